// Writes of automatic tags in the transactions of other nouns.

import type { Sql } from '../../platform/database/index.ts'

/** Renames the list of a policy. */
export const renameInPolicy = (query: Sql, accountId: number, was: string, name: string) =>
  query('update comment_tag_policy set review = array_replace(review, $2, $3) where account_id = $1', [accountId, was, name])

export const removeFromPolicy = (query: Sql, accountId: number, name: string) =>
  query('update comment_tag_policy set review = array_remove(review, $2) where account_id = $1', [accountId, name])

export const untagComment = (query: Sql, commentId: number) => query('delete from comment_automatic_tag where comment_id = $1', [commentId])
