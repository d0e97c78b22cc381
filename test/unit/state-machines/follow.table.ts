// Every move of the machine `follow`.

import { dueIn, type FollowSettings, followMachine, initialFollow } from '../../../src/state-machines/follow.ts'
import { defineTable } from './table.ts'

const minute = 60_000
const day = 24 * 60 * minute
const settings: FollowSettings = { initial_backoff: minute, max_backoff: 12 * 60 * minute, retry_for: 7 * day }

const requested = (answer: 'awaited' | 'granted' | 'refused') => ({ type: 'REQUESTED', by: 'us', at: 1000, answer }) as const
const asks = { by: 'us', askedAt: 1000, tries: 1 } as const
const timedOut = (at: number) => ({ type: 'TIMED_OUT', at, settings }) as const
const local = { by: 'us', askedAt: 5, tries: 3 } as const
const remote = { by: 'them', askedAt: 5, tries: 1 } as const
const decided = { ...remote, isRejectedByAdmin: true } as const
const asksUs = (answer: 'awaited' | 'granted' | 'refused') => ({ type: 'REQUESTED', by: 'them', at: 7, answer }) as const

export const table = defineTable({
  machine: followMachine,
  starts: ['none'],
  context: initialFollow.context,
  settings,
  dueIn,
  rows: [
    { from: 'none', event: requested('awaited'), to: 'pending', gives: asks },
    { from: 'none', event: requested('granted'), to: 'accepted', gives: asks },
    { from: 'none', event: requested('refused'), to: 'none' },
    {
      from: 'none',
      event: { type: 'REQUESTED', by: 'them', at: 7, answer: 'awaited' },
      to: 'pending',
      gives: { by: 'them', askedAt: 7, tries: 1 },
    },

    { from: 'pending', with: local, event: requested('awaited'), to: 'pending', gives: asks },
    { from: 'pending', with: local, event: requested('granted'), to: 'accepted', gives: asks },
    { from: 'pending', with: local, event: requested('refused'), to: 'rejected', gives: asks },
    { from: 'pending', with: local, event: { type: 'ACCEPTED' }, to: 'accepted' },
    { from: 'pending', with: local, event: { type: 'REJECTED' }, to: 'rejected', gives: { isRejectedByAdmin: false } },
    { from: 'pending', with: remote, event: { type: 'REJECTED' }, to: 'rejected', gives: { isRejectedByAdmin: true } },
    { from: 'pending', event: { type: 'WITHDRAWN' }, to: 'none' },
    { from: 'pending', event: { type: 'REMOVED' }, to: 'none' },
    { from: 'pending', event: { type: 'BLOCKED' }, to: 'rejected' },
    { from: 'pending', with: local, event: timedOut(5 + 7 * day - 1), to: 'pending', gives: { tries: 4 } },
    { from: 'pending', with: local, event: timedOut(5 + 7 * day), to: 'expired' },
    { from: 'pending', with: remote, event: timedOut(5 + 8 * day), to: 'illegal' },

    { from: 'accepted', with: local, event: requested('awaited'), to: 'accepted' },
    { from: 'accepted', with: local, event: requested('granted'), to: 'accepted' },
    { from: 'accepted', with: local, event: requested('refused'), to: 'rejected', gives: asks },
    { from: 'accepted', event: { type: 'REJECTED' }, to: 'rejected' },
    { from: 'accepted', with: remote, event: { type: 'REJECTED' }, to: 'rejected', gives: { isRejectedByAdmin: true } },
    { from: 'accepted', event: { type: 'WITHDRAWN' }, to: 'none' },
    { from: 'accepted', event: { type: 'REMOVED' }, to: 'none' },
    { from: 'accepted', event: { type: 'BLOCKED' }, to: 'rejected' },

    { from: 'rejected', with: local, event: requested('awaited'), to: 'pending', gives: asks },
    { from: 'rejected', with: local, event: requested('granted'), to: 'accepted', gives: asks },
    { from: 'rejected', with: local, event: requested('refused'), to: 'rejected', gives: asks },
    {
      from: 'rejected',
      with: remote,
      event: asksUs('granted'),
      to: 'accepted',
      gives: { by: 'them', askedAt: 7, tries: 1 },
    },
    {
      from: 'rejected',
      with: remote,
      event: asksUs('refused'),
      to: 'rejected',
      gives: { by: 'them', askedAt: 7, tries: 1 },
    },
    { from: 'rejected', with: decided, event: asksUs('awaited'), to: 'rejected', gives: decided },
    { from: 'rejected', with: decided, event: asksUs('granted'), to: 'rejected', gives: decided },
    { from: 'rejected', with: decided, event: asksUs('refused'), to: 'rejected', gives: decided },
    {
      from: 'rejected',
      with: decided,
      event: { type: 'ACCEPTED' },
      to: 'accepted',
      gives: { isRejectedByAdmin: false },
    },
    { from: 'rejected', with: decided, event: { type: 'WITHDRAWN' }, to: 'rejected', gives: decided },
    { from: 'rejected', with: decided, event: { type: 'REMOVED' }, to: 'none' },
    { from: 'rejected', event: { type: 'ACCEPTED' }, to: 'accepted' },
    { from: 'rejected', event: { type: 'WITHDRAWN' }, to: 'none' },
    { from: 'rejected', event: { type: 'REMOVED' }, to: 'none' },

    { from: 'expired', with: local, event: requested('awaited'), to: 'pending', gives: asks },
    { from: 'expired', with: local, event: requested('granted'), to: 'accepted', gives: asks },
    { from: 'expired', with: local, event: requested('refused'), to: 'rejected', gives: asks },
    { from: 'expired', event: { type: 'ACCEPTED' }, to: 'accepted' },
    { from: 'expired', event: { type: 'REJECTED' }, to: 'rejected' },
    { from: 'expired', event: { type: 'WITHDRAWN' }, to: 'none' },
    { from: 'expired', event: { type: 'REMOVED' }, to: 'none' },
    { from: 'expired', event: { type: 'BLOCKED' }, to: 'rejected' },
  ],
  dues: [
    { state: 'none', ms: null },
    { state: 'pending', with: { by: 'us', tries: 1 }, ms: minute },
    { state: 'pending', with: { by: 'us', tries: 2 }, ms: 2 * minute },
    { state: 'pending', with: { by: 'us', tries: 50 }, ms: 12 * 60 * minute },
    { state: 'pending', with: remote, ms: null },
    { state: 'accepted', ms: null },
    { state: 'rejected', ms: null },
    { state: 'expired', ms: null },
  ],
})
