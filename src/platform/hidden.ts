// Takes what opens something out of texts that are logged or shown: secret parameters and credentials of addresses, and tokens of
// headers.

/** Of names; bounded, so that a hostile text takes no longer than an honest one. */
const PART = String.raw`[^=&#?\s"'<>\\]{0,60}`
const SECRET_PARTS = 'token|password|secret|jwt|verification|signature|credential|api_?key'
const SECRET_NAMES = 'upload_id|code|otp|key|sig|auth|session'

/** Parameters, of queries and of fragments, that open something to whoever holds them. */
const SECRET_PARAMETERS = new RegExp(
  String.raw`([?&#](?:${PART}(?:${SECRET_PARTS})${PART}|${SECRET_NAMES})=)[^&#\s"'<>\\]*`,
  'gi',
)

const CREDENTIALS = /(:\/\/)[^\s/@"'<>\\]{1,300}@/g

const TOKENS = /\b(Bearer|Basic) {1,4}[\w.~+/-]{16,}=*/gi

/** The text without the values of secret parameters and the credentials of addresses, and without tokens of `Authorization`. */
export function hideSecrets(text: string): string {
  const open = text.includes('=') ? text.replace(SECRET_PARAMETERS, '$1[hidden]') : text
  return open.replace(CREDENTIALS, '$1[hidden]@').replace(TOKENS, '$1 [hidden]')
}
