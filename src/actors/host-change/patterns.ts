// Patterns for a local origin in stored data, in each notation, but not as a prefix of another server's. Pure.

export interface Replacement {
  /** A regular expression of PostgreSQL, for the flags `gi`. */
  pattern: string
  /** Its replacement, in the syntax of `regexp_replace`. */
  replacement: string
}

/** What must not follow an origin: more of a host name, a port, or what would make it a user name. */
const END = '(?![a-z0-9_@]|[.:-][a-z0-9]|%3a[0-9])'

/** For addresses, socket addresses, addresses inside of other addresses, and JSON with escaped slashes. */
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
