// Whose new videos need approval by a moderator.

import { expect, it } from '@jest/globals'
import { isQuarantined } from '../../../src/actors/video/quarantine.ts'
import { testConfig } from '../../support/config.ts'

const [ADMINISTRATOR, MODERATOR, USER] = [0, 1, 2] as const
const [NONE, BYPASS] = [0, 1] as const

it.each([
  [false, USER, NONE, false],
  [true, USER, NONE, true],
  [true, USER, BYPASS, false],
  [true, USER, 2, true],
  [true, MODERATOR, NONE, false],
  [true, ADMINISTRATOR, NONE, false],
])('with the key %s those of role %i and admin flags %i are pending: %s', (enabled, role, adminFlags, waits) => {
  const config = testConfig({ auto_blacklist: { videos: { of_users: { enabled } } } })
  expect(isQuarantined({ role, adminFlags }, config)).toBe(waits)
})
