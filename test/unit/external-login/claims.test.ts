// Claims of an external login, and the names, groups and quotas derived from them.

import { describe, expect, it } from '@jest/globals'
import { isAllowed, mustLogInAgain, readClaims, roleOf } from '../../../src/actors/external-login/claims.ts'
import { loginsCheck } from '../../../src/cli/doctor/logins.ts'
import { testLoadedConfig } from '../../support/config.ts'

const values = { subject: 'x', username: 'una', email: 'una@example.com', displayName: 'Una', groups: ['a'], quota: undefined }
const read = (change: Partial<Record<keyof typeof values, unknown>>) => readClaims({ ...values, ...change }, true)

describe('claims', () => {
  it.each([
    ['Una.Person', 'una.person'],
    ['una@example.com', 'una'],
    ['Ünä Person', '_n__person'],
    ['..una-', 'una'],
    ['../../etc', '_.._etc'],
    ['', 'user'],
    [undefined, 'user'],
    ['...', 'user'],
    ['x'.repeat(60), 'x'.repeat(50)],
    [['first', 'second'], 'first'],
  ])('turn the name %j into %s', (username, expected) => {
    expect(read({ username })?.username).toBe(expected)
  })

  it.each([
    [1000, 1000],
    ['10GB', 10 * 1024 ** 3],
    [['5'], 5],
    ['much', null],
    [-5, null],
    [true, null],
    [{ bytes: 5 }, null],
    [undefined, null],
  ])('turn the quota %j into %s', (quota, expected) => {
    expect(read({ quota })?.quota).toBe(expected)
  })

  it('need an id, and ignore unreadable names and invalid addresses', () => {
    expect(read({ subject: undefined })).toBeUndefined()
    expect(read({ subject: '' })).toBeUndefined()
    expect(read({ subject: {} })).toBeUndefined()
    expect(read({ subject: 'x'.repeat(501) })).toBeUndefined()
    expect(read({ subject: 7 })?.subject).toBe('7')
    expect(read({ email: 'nobody' })?.email).toBeNull()
    expect(read({ email: ['una@example.org', 'second@example.org'] })?.email).toBe('una@example.org')
    expect(read({ displayName: '\u200b' })?.displayName).toBeNull()
    expect(read({ displayName: 'x'.repeat(200) })?.displayName).toHaveLength(120)
    expect(read({ groups: 'one' })?.groups).toEqual(['one'])
    expect(read({ groups: ['a', 5, null, { b: 1 }] })?.groups).toEqual(['a'])
    expect(read({ groups: [] })?.groups).toEqual([])
    expect([undefined, null].map((groups) => read({ groups })?.groups)).toEqual([null, null])
  })
})

describe('groups', () => {
  const rules = { link_by_email: false, trust_email: false, allowed_groups: [], administrator_groups: [], moderator_groups: [] }

  it('are unrestricted unless some are configured', () => {
    expect(isAllowed(rules, { groups: [] })).toBe(true)
    expect(isAllowed({ ...rules, allowed_groups: ['Members'] }, { groups: ['members'] })).toBe(true)
    expect(isAllowed({ ...rules, allowed_groups: ['members'] }, { groups: ['member'] })).toBe(false)
  })

  it('decide the role only if some are mapped, the highest one first', () => {
    expect(roleOf(rules, { groups: ['bosses'] })).toBeUndefined()
    const mapped = { ...rules, administrator_groups: ['bosses'], moderator_groups: ['staff'] }
    expect([['staff', 'bosses'], ['staff'], ['others'], []].map((groups) => roleOf(mapped, { groups }))).toEqual([0, 1, 2, 2])
    expect(roleOf(mapped, { groups: null })).toBeUndefined()
  })

  it('that are missing end a session if they decide who may log in, and after a while if they decide the role', () => {
    const mustNot = { silentMs: 1000, limitMs: 1000 }
    const must = { silentMs: 1001, limitMs: 1000 }
    const mapped = { ...rules, moderator_groups: ['staff'] }
    expect(mustLogInAgain(rules, { groups: null }, must)).toBe(false)
    expect(mustLogInAgain(mapped, { groups: null }, mustNot)).toBe(false)
    expect(mustLogInAgain(mapped, { groups: null }, must)).toBe(true)
    expect(mustLogInAgain(mapped, { groups: [] }, must)).toBe(false)
    expect(mustLogInAgain({ ...rules, allowed_groups: ['members'] }, { groups: null }, mustNot)).toBe(true)
  })
})

describe('the doctor', () => {
  async function findings(auth: object, administrators: number | 'unknown', row = {}) {
    const said: [string, string][] = []
    const note = (status: string) => (message: string) => void said.push([status, message])
    const loaded = testLoadedConfig({ vireo: { auth } }, { dataDir: '/nowhere' })
    const database = async () => {
      if (administrators === 'unknown') throw new Error('away')
      return {
        query: async <R extends object>() => Array.from({ length: administrators }, () => row as R),
        keepsStatements: async () => true,
      }
    }
    await loginsCheck.run(
      { loaded, current: async () => loaded.config, env: {}, database },
      { ok: note('ok'), warning: note('warning'), problem: note('problem') },
      AbortSignal.timeout(1000),
    )
    return said
  }
  const ldap = [{ name: 'company', url: 'ldap://127.0.0.1', search_base: 'dc=example' }]

  it('says whether an administrator can log in', async () => {
    expect(await findings({}, 0)).toEqual([['ok', 'Users log in with passwords of this server.']])
    expect(await findings({ local_passwords: false }, 0)).toEqual([['problem', expect.stringContaining('Nobody can log in')]])
    expect(await findings({ local_passwords: false, ldap }, 0)).toEqual([
      ['problem', expect.stringContaining('No administrator can log in')],
    ])
    expect(await findings({ local_passwords: false, ldap }, 1)).toEqual([['ok', expect.stringContaining('company alone')]])
    expect(await findings({}, 'unknown')).toEqual([['ok', 'Users log in with passwords of this server.']])
    expect(await findings({ local_passwords: false }, 'unknown')).toEqual([['problem', expect.stringContaining('Nobody can log in')]])
    expect(await findings({ local_passwords: false, ldap }, 'unknown')).toEqual([
      ['warning', expect.stringContaining('without the database')],
    ])
    const changed = [['ok', expect.stringContaining('GET /api/v1/vireo/logins')]]
    expect(await findings({ local_passwords: false }, 1, { auth: { local_passwords: true } })).toEqual(changed)
  })
})
