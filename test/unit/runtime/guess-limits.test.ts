// Which failed checks of a secret count as guesses.

import { describe, expect, it } from '@jest/globals'
import { DomainError, type ErrorKind } from '../../../src/actors/runtime/index.ts'
import { testConfig } from '../../support/config.ts'
import { memoryGuessLimits } from '../../support/guess-limits.ts'

const MAX = 3
const clock = { now: () => new Date(0) }

type Check = () => Promise<unknown>

function guesses(): (result: Check, isWrong?: (error: unknown) => boolean) => Promise<unknown> {
  const { check } = memoryGuessLimits({ clock, config: () => testConfig({ rates_limit: { login: { max: MAX, window: '5 minutes' } } }) })
  return async (result, isWrong) =>
    await check('code:7', result, isWrong).catch((error: unknown) => (error instanceof DomainError ? error.kind : error))
}

const failing =
  (error: unknown): Check =>
  () =>
    Promise.reject(error)
const refusing = (kind: ErrorKind): Check => failing(new DomainError(kind, 'No.'))

describe('guesses of a secret', () => {
  it('are refused after a number of wrong ones, even a right one', async () => {
    const guess = guesses()
    for (let tried = 0; tried < MAX; tried += 1) expect(await guess(refusing('invalid'))).toBe('invalid')
    expect(await guess(async () => 'right')).toBe('too_many')
  })

  it.each<[string, Check, string]>([
    ['that are right', () => Promise.resolve('right'), 'right'],
    ['that this server is too busy for', refusing('busy'), 'busy'],
    ['that another server does not answer', refusing('unavailable'), 'unavailable'],
    ['that fail', failing('a lost connection'), 'a lost connection'],
  ])('do not count those %s', async (_which, result, answer) => {
    const guess = guesses()
    for (let tried = 0; tried < 3 * MAX; tried += 1) expect(await guess(result)).toBe(answer)
  })

  it('count only what the rule of the secret calls wrong', async () => {
    const guess = guesses()
    const isUnknown = (error: unknown) => error instanceof DomainError && error.kind === 'not_found'
    for (let tried = 0; tried < 3 * MAX; tried += 1) expect(await guess(refusing('conflict'), isUnknown)).toBe('conflict')
    for (let tried = 0; tried < MAX; tried += 1) expect(await guess(refusing('not_found'), isUnknown)).toBe('not_found')
    expect(await guess(refusing('not_found'), isUnknown)).toBe('too_many')
  })
})
