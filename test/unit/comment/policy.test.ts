import { expect, it } from '@jest/globals'
import { commentsPolicies, isPendingReview } from '../../../src/actors/comment/comment.policy.ts'

const { enabled, requiresApproval } = commentsPolicies
const owner = { accountId: 1, role: 2 } as const
const guest = { accountId: 2, role: 2 } as const
const moderator = { accountId: 3, role: 1 } as const

it.each([
  // The remote host of the video, its policy, the author, other facts, and whether the comment is pending.
  [false, enabled, guest, {}, false],
  [false, enabled, guest, { review: true }, true],
  [false, enabled, null, { review: true }, true],
  [false, enabled, owner, { review: true }, false],
  [false, enabled, moderator, { review: true }, false],
  [false, requiresApproval, guest, {}, true],
  [false, requiresApproval, owner, {}, false],
  [true, enabled, guest, { review: true }, false],
  [true, requiresApproval, guest, {}, true],
  [true, requiresApproval, owner, { review: true }, true],
  [true, requiresApproval, null, { isOfVideosServer: true }, false],
] as const)('remote %s, policy %i, by %j with %j: pending %s', (remote, commentsPolicy, author, more, expected) => {
  expect(isPendingReview({ remote, commentsPolicy, ownerAccountId: 1 }, author, more)).toBe(expected)
})
