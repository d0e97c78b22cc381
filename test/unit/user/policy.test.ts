// Rights of the roles, and management of users.

import { describe, expect, it } from '@jest/globals'
import { DomainError } from '../../../src/actors/runtime/index.ts'
import type { UserRole } from '../../../src/actors/user/index.ts'
import {
  assertMayBlock,
  assertMayCreate,
  assertMayLeave,
  assertMayRemove,
  assertMayUpdate,
  hasRight,
  userRights,
} from '../../../src/actors/user/user.policy.ts'

it('administrators have every right, moderators some, users none', () => {
  const all = Object.keys(userRights).filter((name): name is keyof typeof userRights => name in userRights)
  expect(all.every((right) => hasRight(0, right))).toBe(true)
  expect(all.filter((right) => hasRight(1, right))).toHaveLength(15)
  expect(hasRight(1, 'MANAGE_CONFIGURATION')).toBe(false)
  expect(all.some((right) => hasRight(2, right))).toBe(false)
})

const names: Record<UserRole, string> = { 0: 'an administrator', 1: 'a moderator', 2: 'a user' }
const roles: UserRole[] = [0, 1, 2]
const pairs = roles.flatMap((by) => roles.map((of) => ({ by, of, who: names[by], whom: names[of] })))

const answerOf = (ask: () => void): string => {
  try {
    ask()
    return 'allowed'
  } catch (error) {
    if (error instanceof DomainError) return error.kind
    throw error
  }
}
const person = (role: UserRole, id = 7) => ({ id, username: `someone${id}`, role })

describe.each(pairs)('$who and $whom', ({ by, of }) => {
  const manages = by === 0 || (by === 1 && of === 2)
  const expected = manages ? 'allowed' : 'forbidden'

  it('can be created, changed, blocked and removed by higher roles, and by administrators', () => {
    expect(answerOf(() => assertMayUpdate(person(by, 1), person(of), undefined))).toBe(expected)
    expect(answerOf(() => assertMayBlock(person(by, 1), person(of)))).toBe(expected)
    expect(answerOf(() => assertMayRemove(person(by, 1), person(of)))).toBe(expected)
    if (by !== 2) expect(answerOf(() => assertMayCreate(person(by), of))).toBe(expected)
  })

  it('a role is assigned by administrators only, unless it is unchanged', () => {
    for (const role of roles) {
      const allowed = manages && (by === 0 || role === of)
      const answer = answerOf(() => assertMayUpdate(person(by, 1), person(of), role))
      expect([role, answer]).toEqual([role, allowed ? 'allowed' : 'forbidden'])
    }
  })
})

it('all users but root may remove themselves', () => {
  for (const role of roles) expect(answerOf(() => assertMayLeave(person(role)))).toBe('allowed')
  expect(answerOf(() => assertMayLeave({ username: 'root', role: 0 }))).toBe('invalid')
})

it('root can be changed, but not demoted, blocked or removed, even by other administrators', () => {
  const root = { id: 1, username: 'root', role: 0 } as const
  expect(answerOf(() => assertMayUpdate(person(0), root, undefined))).toBe('allowed')
  expect(answerOf(() => assertMayUpdate(person(0), root, 0))).toBe('allowed')
  expect(answerOf(() => assertMayUpdate(person(0), root, 2))).toBe('invalid')
  expect(answerOf(() => assertMayBlock(person(0), root))).toBe('invalid')
  expect(answerOf(() => assertMayRemove(person(0), root))).toBe('invalid')
})
