// What administrators see of a job's data and errors: ids and addresses, with nothing in them that opens a door.

const ADDRESS = /\b[a-z][a-z\d+.-]*:\/\/[^\s"'<>]+/gi
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]+/gi
/** Names of query parameters whose values are kept to oneself, whole or as a part: `access_token`, `X-Amz-Signature`. */
const SECRET_NAME = /token|key|secret|pass|sig|auth|credential|session|code/i
const HIDDEN = 'hidden'

/** The text with the credentials and secret parameters of its addresses hidden. */
export const withoutSecrets = (text: string): string =>
  text.replace(ADDRESS, withoutSecretsOfAddress).replace(BEARER, (_, scheme: string) => `${scheme} ${HIDDEN}`)

function withoutSecretsOfAddress(text: string): string {
  const url = URL.parse(text)
  // Not even an address: whatever stands before an @ may be a password.
  if (!url) return text.replace(/\/\/[^/]*@/, `//${HIDDEN}@`)
  const names = [...new Set(url.searchParams.keys())].filter((name) => SECRET_NAME.test(name))
  const hasFragment = SECRET_NAME.test(url.hash)
  if (!url.username && !url.password && names.length === 0 && !hasFragment) return text
  url.username = ''
  url.password = ''
  for (const name of names) url.searchParams.set(name, HIDDEN)
  if (hasFragment) url.hash = HIDDEN
  return url.href
}

export const shownData = (data: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, typeof value === 'string' ? withoutSecrets(value) : value]),
  )
