// How a local origin is found in what is stored, in each way of writing it, and not where it begins that of another server. Pure.

export interface Replacement {
  /** A regular expression of PostgreSQL, for the flags `gi`. */
  pattern: string
  /** What takes its place, as `regexp_replace` wants it. */
  replacement: string
}

/** What cannot follow an origin: more of a host name, a port, or what would make it a user name. */
const END = '(?![a-z0-9_@]|[.:-][a-z0-9]|%3a[0-9])'

/** Of addresses, those of sockets, those inside of other addresses, and those in JSON that escapes its slashes. */
export function replacementsOf(from: string, to: string): Replacement[] {
  const forms = (origin: string): string[] => {
    const plain = [origin, origin.replace(/^http/, 'ws')]
    return plain.flatMap((one) => [one, encodeURIComponent(one), one.replaceAll('/', '\\/')])
  }
  const after = forms(to)
  return forms(from).map((form, index) => ({
    pattern: `${form.replace(/[^a-zA-Z0-9]/g, '\\$&')}${END}`,
    replacement: (after[index] ?? '').replaceAll('\\', '\\\\'),
  }))
}
