// SQL for showing and filtering by automatic tags. Tags of a comment are only for the owner of the list.

import type { ListOwner } from '../watched-words/index.ts'

type Bind = (value: unknown) => string

/** The tags of a video, in order. */
export const tagsOfVideo = (video: string): string =>
  `(select coalesce(array_agg(t.name order by t.name), '{}') from video_automatic_tag t where t.video_id = ${video})`

/** The ids of the videos with one of the tags. */
export const videosTagged = (names: readonly string[], bind: Bind): string =>
  `select t.video_id from video_automatic_tag t where t.name = any(${bind(names)}::text[])`

const isOf = (ownerId: ListOwner): string => (ownerId === null ? 't.account_id is null' : `t.account_id = ${Number(ownerId)}`)

/** The tags of a comment for the instance (null) or an account, in order. */
export const tagsOfComment = (comment: string, ownerId: ListOwner): string =>
  `(select coalesce(array_agg(t.name order by t.name), '{}') from comment_automatic_tag t
    where t.comment_id = ${comment} and ${isOf(ownerId)})`

/** The ids of the comments with one of the tags. */
export const commentsTagged = (ownerId: ListOwner, names: readonly string[], bind: Bind): string =>
  `select t.comment_id from comment_automatic_tag t where ${isOf(ownerId)} and t.name = any(${bind(names)}::text[])`
