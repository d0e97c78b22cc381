// Where forms and addresses lead: to a path of this server, and never to another site.

/** An origin that no address leads away from unnoticed. */
const ANYWHERE = 'http://origin.invalid'
const LONGEST = 2000

/** The login, which leads on to `next`. */
export const loginPath = (next: string): string => `/login?next=${encodeURIComponent(next)}`

/** The path and query when `text` is a path of this server; else `instead`. */
export function localPath(text: unknown, instead = '/'): string {
  if (typeof text !== 'string' || text.length > LONGEST || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return instead
  const url = URL.parse(text, ANYWHERE)
  if (url?.origin !== ANYWHERE) return instead
  const path = `${url.pathname}${url.search}`
  // Such as `/.//other.example`.
  return path.startsWith('//') ? instead : path
}
