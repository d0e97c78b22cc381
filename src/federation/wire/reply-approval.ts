// Approved and rejected comments: the owner of a video notifies the author's server.

import { buildActivity, readActivity } from './activity.ts'
import type { JsonObject } from './context.ts'
import { idOf, isHttpUrl, type Read } from './read.ts'

export interface ReplyApprovalDocument {
  id: string
  actor: string
  isApproved: boolean
  /** The comment. */
  comment: string
  /** Its parent: the video or a comment. */
  inReplyTo: string | null
}

export function readReplyApproval(document: unknown): Read<ReplyApprovalDocument> {
  const read = readActivity(document)
  if (!read.ok) return read
  const { id, type, actor, object } = read.value
  if (type !== 'ApproveReply' && type !== 'RejectReply') return { ok: false, problem: 'not an approval' }
  if (!object?.id) return { ok: false, problem: 'object: missing' }
  const parent = typeof document === 'object' && document && 'inReplyTo' in document ? idOf(document.inReplyTo) : null
  return {
    ok: true,
    value: {
      id,
      actor,
      isApproved: type === 'ApproveReply',
      comment: object.id,
      inReplyTo: isHttpUrl(parent) ? parent : null,
    },
  }
}

export function buildReplyApproval(input: ReplyApprovalDocument): JsonObject {
  return buildActivity({
    type: input.isApproved ? 'ApproveReply' : 'RejectReply',
    id: input.id,
    actor: input.actor,
    object: input.comment,
    kind: input.isApproved ? 'reply-approval' : 'reply-rejection',
    ...(input.inReplyTo === null ? {} : { more: { inReplyTo: input.inReplyTo } }),
  })
}
