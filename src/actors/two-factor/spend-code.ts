// The second factor of a login: a code of the user's app, which is valid once, in all processes.

import type { Sql } from '../../platform/database/index.ts'
import { DomainError, type GuessLimits } from '../runtime/index.ts'
import { stepOfCode } from './one-time-code.ts'

export interface CheckedCode {
  /** As it was when the code was checked: after a replacement of the secret nothing is spent. */
  secretSealed: string
  step: number
}

/** Throws `missing_two_factor` and `invalid_two_factor`. Only `spendCode` finds out whether the code was used before. */
export async function checkCode(ask: {
  guesses: GuessLimits
  userId: number
  secretSealed: string
  open: (sealed: string) => string
  code: string | undefined
  now: Date
}): Promise<CheckedCode> {
  const { guesses, userId, secretSealed, open, code, now } = ask
  if (!code) {
    throw new DomainError('unauthenticated', 'Missing two factor header', {
      code: 'missing_two_factor',
      headers: { 'x-peertube-otp': 'required; app' },
    })
  }
  return await guesses.check(guessedCode(userId), async () => {
    const step = await stepOfCode(open(secretSealed), code, now)
    if (step === undefined) throw wrongCode()
    return { secretSealed, step }
  })
}

/** The subject under which wrong codes of a user are counted, at login and during the setup. */
export const guessedCode = (userId: number): string => `code:${userId}`

/** Runs in the transaction of the login. Throws `invalid_two_factor` for a used code, or one older than a used one. */
export async function spendCode(query: Sql, userId: number, { secretSealed, step }: CheckedCode): Promise<void> {
  const spent = await query(
    `update two_factor set last_step = $3
     where user_id = $1 and state = 'on' and secret_sealed = $2 and coalesce(last_step, 0) < $3 returning id`,
    [userId, secretSealed, step],
  )
  if (spent.length === 0) throw wrongCode()
}

const wrongCode = (): DomainError => new DomainError('invalid', 'Invalid two factor header', { code: 'invalid_two_factor' })
