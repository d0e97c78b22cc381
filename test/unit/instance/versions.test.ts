// Comparison of versions.

import { describe, expect, it } from '@jest/globals'
import { isNewer } from '../../../src/actors/instance/versions.ts'

/** From oldest to newest; the middle part is the example of Semantic Versioning 2.0.0, section 11. */
const ROW = [
  '0.9.9',
  '0.10.0',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-alpha.beta',
  '1.0.0-beta',
  '1.0.0-beta.2',
  '1.0.0-beta.11',
  '1.0.0-rc.1',
  '1.0.0',
  '1.0.1',
  '1.2.0',
  '10.0.0',
]

describe('a version', () => {
  it('is newer than all earlier ones, and no later one', () => {
    for (const [place, version] of ROW.entries()) {
      expect(ROW.filter((other) => isNewer(version, other))).toEqual(ROW.slice(0, place))
    }
  })

  it('is the same with a `v` prefix, and with another build', () => {
    expect(isNewer('v2.0.0+linux', '2.0.0')).toBe(false)
    expect(isNewer('2.0.0', 'v2.0.0+linux')).toBe(false)
    expect(isNewer('v2.0.1', '2.0.0')).toBe(true)
  })

  it('is not newer when it is invalid', () => {
    for (const version of ['', 'latest', '2', '2.0', '2.0.0.0', '-1.0.0', '2.0.0 and more']) {
      expect(isNewer(version, '1.0.0')).toBe(false)
      expect(isNewer('1.0.0', version)).toBe(false)
    }
  })
})
