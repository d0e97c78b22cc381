// Comments as REST clients read them.

import { z } from 'zod'
import type { CommentRow } from '../../actors/comment/index.ts'
import { accountView, type Here, toAccountView } from '../videos/actor.view.ts'

const date = z.iso.datetime()

export const commentView = z
  .object({
    id: z.int(),
    url: z.string(),
    text: z.string(),
    threadId: z.int(),
    inReplyToCommentId: z.int().nullable(),
    videoId: z.int(),
    createdAt: date,
    updatedAt: date,
    deletedAt: date.nullable(),
    heldForReview: z.boolean(),
    isDeleted: z.boolean(),
    totalRepliesFromVideoAuthor: z.int(),
    totalReplies: z.int(),
    account: accountView.nullable(),
  })
  .meta({ id: 'VideoComment' })

export type CommentView = z.infer<typeof commentView>

export interface CommentTree {
  comment: CommentView
  children: CommentTree[]
}

export const commentTree: z.ZodType<CommentTree> = z.lazy(() => z.object({ comment: commentView, children: z.array(commentTree) }))

const iso = (text: string): string => new Date(text).toISOString()

/** Only the first comment of a thread counts replies. */
export function toCommentView(row: CommentRow, here: Here): CommentView {
  const isThread = row.thread_id === null
  return {
    id: row.id,
    url: row.url,
    text: row.text,
    threadId: row.thread_id ?? row.id,
    inReplyToCommentId: row.parent_id,
    videoId: row.video_id,
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
    deletedAt: row.deleted_at === null ? null : iso(row.deleted_at),
    heldForReview: row.held,
    isDeleted: row.deleted_at !== null,
    totalRepliesFromVideoAuthor: isThread ? row.replies_from_owner : 0,
    totalReplies: isThread ? row.replies : 0,
    account: row.account && toAccountView(row.account, here),
  }
}

/** Maximum levels of a tree: JSON writers fail on trees of some thousand levels, here and in clients. */
export const DEEPEST_LEVEL = 100

/**
 * The rows of one thread as a tree. A reply to a hidden comment is hidden; replies below the deepest level are placed next to their parent.
 */
export function toTree(rows: CommentRow[], threadId: number, here: Here): CommentTree | undefined {
  const nodes = new Map(rows.map((row) => [row.id, { row, tree: { comment: toCommentView(row, here), children: [] } }]))
  const places = placesOf(rows)
  for (const { row, tree } of nodes.values()) {
    const under = places.get(row.id)?.under ?? null
    const parent: CommentTree | undefined = under === null ? undefined : nodes.get(under)?.tree
    parent?.children.push(tree)
  }
  return nodes.get(threadId)?.tree
}

/** The place of each comment. Ids grow from parent to reply; dates of other servers may not. */
function placesOf(rows: CommentRow[]): Map<number, { under: number | null; level: number }> {
  const places = new Map<number, { under: number | null; level: number }>()
  for (const row of rows.toSorted((a, b) => a.id - b.id)) {
    const parent = row.parent_id === null ? undefined : places.get(row.parent_id)
    const isTooDeep = parent?.level === DEEPEST_LEVEL
    places.set(row.id, {
      under: isTooDeep ? parent.under : row.parent_id,
      level: isTooDeep ? parent.level : (parent?.level ?? 0) + 1,
    })
  }
  return places
}
