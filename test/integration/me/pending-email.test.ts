// A new email address that needs verification: it is pending, and a mail is requested in the same transaction.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { makeUpdateMe, type UpdateMe } from '../../../src/actors/user/index.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { makeUser, TEST_ORIGIN } from '../../support/builders.ts'
import { testConfig } from '../../support/config.ts'
import { fastPasswords } from '../../support/fast-crypto.ts'
import { memoryGuessLimits } from '../../support/guess-limits.ts'
import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'

const PASSWORD = 'password1'
const passwords = fastPasswords()
let test: TestRuntime
let updateMe: UpdateMe

beforeAll(async () => {
  test = await makeTestRuntime()
  const { runtime, db } = test
  runtime.registry.job('email', { queue: 'mail', run: async () => undefined })
  const config = testConfig({ signup: { requires_email_verification: true } })
  updateMe = makeUpdateMe({
    db,
    tell: runtime.tell,
    registry: runtime.registry,
    clock: systemClock,
    logger: silentLogger,
    passwords,
    config: () => config,
    secrets: makeSecrets({ secret: 'a secret for tests' }),
    urls: makeUrls(TEST_ORIGIN),
    guesses: memoryGuessLimits({ clock: systemClock, config: () => config }),
  })
})
afterAll(() => test?.stop())

async function newUser(): Promise<number> {
  const { id } = await makeUser(test.db)
  await test.db.query('update users set password_hash = $2 where id = $1', [id, await passwords.hash(PASSWORD)])
  return id
}
const stored = async (id: number) => {
  const [row] = await test.db.query<{ email: string; pending_email: string | null }>(
    'select email, pending_email from users where id = $1',
    [id],
  )
  return row
}
const mailsFor = (id: number) => test.db.query("select data from job where type = 'email' and data ->> 'userId' = $1", [String(id)])
const change = (userId: number, email: string, currentPassword?: string) =>
  updateMe({ userId, sessionId: 0 }, { settings: {}, email, currentPassword })

it('is pending beside the old one until it is verified', async () => {
  const id = await newUser()
  const before = await stored(id)
  await change(id, 'new@example.com', PASSWORD)
  expect(await stored(id)).toEqual({ ...before, pending_email: 'new@example.com' })
  expect(await mailsFor(id)).toEqual([{ data: { mail: 'verify-email', userId: id, pending: 1 } }])
})

it('is discarded when the old address is set again', async () => {
  const id = await newUser()
  const { email = '' } = (await stored(id)) ?? {}
  await change(id, 'other@example.com', PASSWORD)
  await change(id, email, PASSWORD)
  expect(await stored(id)).toEqual({ email, pending_email: null })
})

it('sends no mail without the right password, or for an address of another user', async () => {
  const id = await newUser()
  const { email: taken = '' } = (await stored(await newUser())) ?? {}
  const before = await stored(id)
  await expect(change(id, 'third@example.com')).rejects.toMatchObject({ kind: 'invalid' })
  await expect(change(id, 'third@example.com', 'wrong')).rejects.toMatchObject({ kind: 'unauthenticated' })
  await expect(change(id, taken.toUpperCase(), PASSWORD)).rejects.toMatchObject({ kind: 'invalid' })
  expect(await stored(id)).toEqual(before)
  expect(await mailsFor(id)).toEqual([])
})
