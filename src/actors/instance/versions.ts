// Compares versions by the precedence of Semantic Versioning 2.0.0 (section 11). Pure.

const VERSION = /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9a-z.-]+))?(?:\+[0-9a-z.-]+)?$/i

/** False also for an invalid version. */
export function isNewer(version: string, than: string): boolean {
  const [one, other] = [read(version), read(than)]
  if (!one || !other) return false
  const [place] = one.release.flatMap((number, index) => (number === other.release[index] ? [] : [index]))
  if (place !== undefined) return (one.release[place] ?? 0) > (other.release[place] ?? 0)
  return compareEarly(one.early, other.early) > 0
}

interface Version {
  release: number[]
  /** Identifiers of a pre-release; none for the release itself. */
  early: string[]
}

function read(version: string): Version | undefined {
  const found = VERSION.exec(version.trim())
  if (!found) return undefined
  const [, major, minor, patch, early] = found
  return { release: [major, minor, patch].map(Number), early: early?.split('.') ?? [] }
}

/** A release comes after its pre-releases. */
function compareEarly(one: string[], other: string[]): number {
  if (one.length === 0 || other.length === 0) return other.length - one.length
  for (const [index, identifier] of one.entries()) {
    const against = other[index]
    if (against === undefined) return 1
    if (identifier !== against) return compareIdentifiers(identifier, against)
  }
  return one.length - other.length
}

/** Numbers come before words. */
function compareIdentifiers(one: string, other: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)]
  if (isNumber && isOtherNumber) return Number(one) - Number(other)
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return one < other ? -1 : 1
}
