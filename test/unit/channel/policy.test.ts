// Who may change and remove a channel.

import { describe, expect, it } from '@jest/globals'
import { assertMayManageChannel } from '../../../src/actors/channel/index.ts'

const local = { accountId: 1, remote: false }
const people = {
  owner: { accountId: 1, role: 2 },
  stranger: { accountId: 2, role: 2 },
  moderator: { accountId: 3, role: 1 },
  administrator: { accountId: 4, role: 0 },
} as const

describe('a channel', () => {
  it.each(['owner', 'moderator', 'administrator'] as const)('of this server can be changed by its %s', (who) => {
    expect(() => assertMayManageChannel(local, people[who])).not.toThrow()
  })

  it('cannot be changed by another user', () => {
    expect(() => assertMayManageChannel(local, people.stranger)).toThrow(expect.objectContaining({ kind: 'forbidden' }))
  })

  it('of another server cannot be changed here', () => {
    for (const by of Object.values(people)) {
      expect(() => assertMayManageChannel({ accountId: 1, remote: true }, by)).toThrow(expect.objectContaining({ kind: 'forbidden' }))
    }
  })
})
