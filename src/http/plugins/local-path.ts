// Restricts targets of forms and redirects to paths of this server.

/** A dummy origin, to detect addresses that leave it. */
const ANYWHERE = 'http://origin.invalid'
const LONGEST = 2000

/** The login, which continues at `next`. */
export const loginPath = (next: string): string => `/login?next=${encodeURIComponent(next)}`

/** The path and query if `text` is a path of this server; otherwise `instead`. */
export function localPath(text: unknown, instead = '/'): string {
  if (typeof text !== 'string' || text.length > LONGEST || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return instead
  const url = URL.parse(text, ANYWHERE)
  if (url?.origin !== ANYWHERE) return instead
  const path = `${url.pathname}${url.search}`
  // For example `/.//other.example`.
  return path.startsWith('//') ? instead : path
}
