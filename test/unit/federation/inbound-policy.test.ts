// Each step of the inbox policy, their order, and the counts per host.

import { describe, expect, it } from '@jest/globals'
import {
  automaticTags,
  blockedActor,
  blockedServer,
  blockedSubject,
  CHAIN,
  type Decision,
  decide,
  foreignId,
  ourActor,
  pendingComment,
  rateOfHost,
  reportsOfHost,
  type Step,
  sameReport,
  sizeOfBody,
  sizeOfRemark,
} from '../../../src/federation/inbound/policy/chain.ts'
import type { Count, Facts } from '../../../src/federation/inbound/policy/facts.ts'
import { isRemark, kindOf } from '../../../src/federation/inbound/policy/kinds.ts'
import { LIMITS, makeCountOf } from '../../../src/federation/inbound/policy/rates.ts'
import { readActivity } from '../../../src/federation/wire/index.ts'
import { makeMemoryLimitStore } from '../../../src/platform/limit-stores.ts'
import { fakeClock } from '../../support/clock.ts'
import { testConfig } from '../../support/config.ts'

const pass: Decision = { verdict: 'pass' }
const none = { isServer: false, isActor: false }
const count = (reason: Count['reason'], taken: number, endsInMs = 1000): Count => ({
  reason,
  count: taken,
  max: 10,
  endsInMs,
})
const shown = { isPendingReview: false, isPendingByTags: false, tags: [] }
const report = { isPending: false, inHour: 0, max: 10 }

const tables: [Step, [what: string, facts: Facts, decision: Decision][]][] = [
  [
    sizeOfBody,
    [
      ['as large as it may be', { body: { bytes: 10, max: 10 } }, pass],
      ['one byte more', { body: { bytes: 11, max: 10 } }, { verdict: 'refuse', reason: 'body_too_large', status: 413 }],
    ],
  ],
  [
    blockedServer,
    [
      ['another server', { blocked: { ...none, isForwarded: false } }, pass],
      ['an actor is no server', { blocked: { ...none, isActor: true, isForwarded: false } }, pass],
      [
        'said by itself',
        { blocked: { ...none, isServer: true, isForwarded: false } },
        { verdict: 'refuse', reason: 'blocked_server', status: 403 },
      ],
      ['passed on by somebody', { blocked: { ...none, isServer: true, isForwarded: true } }, { verdict: 'drop', reason: 'blocked_server' }],
    ],
  ],
  [
    blockedActor,
    [
      ['another actor', { blocked: { ...none, isForwarded: true } }, pass],
      [
        'said by itself',
        { blocked: { ...none, isActor: true, isForwarded: false } },
        { verdict: 'refuse', reason: 'blocked_actor', status: 403 },
      ],
      ['passed on by somebody', { blocked: { ...none, isActor: true, isForwarded: true } }, { verdict: 'drop', reason: 'blocked_actor' }],
    ],
  ],
  [
    sizeOfRemark,
    [
      ['as large as it may be', { remark: { bytes: 10, max: 10 } }, pass],
      ['one byte more', { remark: { bytes: 11, max: 10 } }, { verdict: 'refuse', reason: 'comment_too_large', status: 413 }],
    ],
  ],
  [
    ourActor,
    [
      ['of another server', { isOurActor: false }, pass],
      ['in the name of ours', { isOurActor: true }, { verdict: 'refuse', reason: 'our_own_actor', status: 403 }],
    ],
  ],
  [
    foreignId,
    [
      ['its own', { isIdForeign: false }, pass],
      ['of somebody else', { isIdForeign: true }, { verdict: 'drop', reason: 'id_of_another_server' }],
    ],
  ],
  [
    rateOfHost,
    [
      ['nothing counted', { counts: [] }, pass],
      ['the last that is allowed', { counts: [count('too_many_activities', 10)] }, pass],
      [
        'one more',
        { counts: [count('too_many_activities', 11, 500)] },
        { verdict: 'later', reason: 'too_many_activities', retryAfterMs: 500 },
      ],
      [
        'one of two',
        { counts: [count('too_many_activities', 3), count('too_many_comments', 11)] },
        { verdict: 'later', reason: 'too_many_comments', retryAfterMs: 1000 },
      ],
      [
        'both: the longer wait',
        { counts: [count('too_many_activities', 11, 500), count('too_many_comments', 11, 3000)] },
        { verdict: 'later', reason: 'too_many_comments', retryAfterMs: 3000 },
      ],
      [
        'reports, after which all else still comes',
        { counts: [count('too_many_activities', 3), count('too_many_reports', 11, 3_000_000)] },
        { verdict: 'drop', reason: 'too_many_reports' },
      ],
      [
        'reports among too much of everything',
        { counts: [count('too_many_activities', 11, 500), count('too_many_reports', 11, 3_000_000)] },
        { verdict: 'later', reason: 'too_many_activities', retryAfterMs: 500 },
      ],
    ],
  ],
  [
    blockedSubject,
    [
      ['of nobody who is blocked', { subject: none }, pass],
      ['of a blocked server', { subject: { isServer: true, isActor: true } }, { verdict: 'drop', reason: 'about_blocked_server' }],
      ['of a blocked actor', { subject: { ...none, isActor: true } }, { verdict: 'drop', reason: 'about_blocked_actor' }],
    ],
  ],
  [
    sameReport,
    [
      ['a new one', { report }, pass],
      ['the same again', { report: { ...report, isPending: true } }, { verdict: 'drop', reason: 'reported_already' }],
    ],
  ],
  [
    reportsOfHost,
    [
      ['the last that is allowed', { report: { ...report, inHour: 9 } }, pass],
      ['one more', { report: { ...report, inHour: 10 } }, { verdict: 'drop', reason: 'too_many_reports' }],
    ],
  ],
  [
    pendingComment,
    [
      ['shown', { comment: { ...shown, tags: ['a'] } }, pass],
      ['kept back', { comment: { ...shown, isPendingReview: true } }, { verdict: 'hold', reason: 'needs_approval' }],
      [
        'kept back for its tags',
        { comment: { isPendingReview: true, isPendingByTags: true, tags: ['a'] } },
        { verdict: 'hold', reason: 'held_by_tags' },
      ],
    ],
  ],
  [
    automaticTags,
    [
      ['without tags', { comment: shown }, pass],
      ['with tags', { comment: { ...shown, tags: ['a', 'b'] } }, { verdict: 'tag', reason: 'tagged', tags: ['a', 'b'] }],
    ],
  ],
]

describe.each(tables)('the step $name', ({ decide: look }, rows) => {
  it('accepts unknown facts', () => {
    expect(look({})).toEqual(pass)
  })

  it.each(rows)('%s', (_what, facts, decision) => {
    expect(look(facts)).toEqual(decision)
  })
})

describe('the chain', () => {
  it('consists of the steps with a table, and calls each once', () => {
    expect(CHAIN).toEqual(tables.map(([step]) => step))
    expect(new Set(CHAIN.map(({ name }) => name)).size).toBe(CHAIN.length)
  })

  it('accepts when no step decides', () => {
    expect(decide({})).toEqual(pass)
  })

  it('runs in order: blocked senders are refused first, before anything is counted', () => {
    const all: Facts = {
      body: { bytes: 2, max: 1 },
      blocked: { isServer: true, isActor: true, isForwarded: false },
      remark: { bytes: 2, max: 1 },
      isOurActor: true,
      isIdForeign: true,
      counts: [count('too_many_activities', 11)],
      subject: { isServer: true, isActor: true },
      report: { isPending: true, inHour: 10, max: 10 },
      comment: { isPendingReview: true, isPendingByTags: false, tags: ['a'] },
    }
    const requested: string[] = []
    const parts = Object.keys(all) as (keyof Facts)[]
    for (let left = parts; left.length > 0; left = left.slice(1)) {
      const facts = Object.fromEntries(left.map((part) => [part, all[part]])) as Facts
      const decision = decide(facts)
      requested.push(decision.verdict === 'pass' ? 'pass' : decision.reason)
    }
    expect(requested).toEqual([
      'body_too_large',
      'blocked_server',
      'comment_too_large',
      'our_own_actor',
      'id_of_another_server',
      'too_many_activities',
      'about_blocked_server',
      'reported_already',
      'needs_approval',
    ])
  })
})

const activity = (type: string, object: unknown) => {
  const read = readActivity({
    type,
    id: 'https://peer.example/1',
    actor: 'https://peer.example/actor',
    object,
    to: [],
    cc: [],
  })
  if (!read.ok) throw new Error(read.problem)
  return read.value
}

describe('classification', () => {
  it.each([
    ['Create', { type: 'Note' }, 'Create Note'],
    ['Update', { type: 'Video' }, 'Update Video'],
    ['Create', { type: 'Secret' }, 'Create'],
    ['Create', 'https://peer.example/note', 'Create'],
    ['Announce', { type: 'Create' }, 'Announce'],
    ['EmojiReact', 'https://peer.example/video', 'Like'],
    ['Flag', 'https://peer.example/video', 'Flag'],
    ['Move', 'https://peer.example/video', 'Other'],
  ])('%s of %j is %s', (type, object, kind) => {
    expect(kindOf(activity(type, object))).toBe(kind)
  })

  it.each([
    [{ type: 'Flag' }, true],
    [{ type: 'Create', object: { type: 'Note' } }, true],
    [{ type: 'Create', object: [{ type: ['Note', 'Thing'] }] }, true],
    [{ type: 'Announce', object: { type: 'Create', object: { type: 'Note' } } }, true],
    [{ type: 'Create', object: { type: 'Video' } }, false],
    [{ type: 'Create', object: 'https://peer.example/note' }, false],
    [{ type: 'Like' }, false],
  ])('%j is a comment: %p', (document, is) => {
    expect(isRemark(document)).toBe(is)
  })
})

describe('counts of a host', () => {
  it.each([
    ['Flag', 'https://ours.example/video', ['too_many_activities', 'too_many_reports']],
    ['Create', { type: 'Note' }, ['too_many_activities', 'too_many_comments']],
    ['Create', 'https://peer.example/unknown', ['too_many_activities', 'too_many_comments']],
    ['Create', { type: 'Video' }, ['too_many_activities']],
    ['Follow', 'https://ours.example/actor', ['too_many_activities', 'too_many_follows']],
    ['Announce', 'https://ours.example/video', ['too_many_activities', 'too_many_announces']],
    ['Like', 'https://ours.example/video', ['too_many_activities']],
  ])('%s of %j is counted among %j', (type, object, reasons) => {
    expect(LIMITS.filter(({ covers }) => covers(activity(type, object))).map(({ reason }) => reason)).toEqual(reasons)
  })

  it('are per host and kind, and end with the window', async () => {
    const clock = fakeClock()
    const config = testConfig({ vireo: { federation: { inbox: { follows_per_host: 1 } } } })
    const store = makeMemoryLimitStore({ now: () => clock.now().getTime() })
    const countOf = makeCountOf({ store, config: () => config })
    const verdict = async (host: string, type: string) => decide({ counts: await countOf(host, activity(type, 'https://ours.example/a')) })
    expect(await verdict('a.example', 'Follow')).toEqual(pass)
    expect(await verdict('a.example', 'Follow')).toEqual({
      verdict: 'later',
      reason: 'too_many_follows',
      retryAfterMs: 60_000,
    })
    expect(await verdict('a.example', 'Like')).toEqual(pass)
    expect(await verdict('b.example', 'Follow')).toEqual(pass)
    clock.pass(60_000)
    expect(await verdict('a.example', 'Follow')).toEqual(pass)
  })
})
