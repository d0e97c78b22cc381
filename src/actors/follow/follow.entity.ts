// A follow relation between two actors; its lifecycle is the machine `follow`.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { HistoryWalkContext, HistoryWalkState } from '../../state-machines/history-walk.ts'

const FollowSchema = defineEntity({
  name: 'Follow',
  tableName: 'follow',
  properties: {
    id: p.integer().primary(),
    followerId: p.integer(),
    targetId: p.integer(),
    state: p.text(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime(3).nullable(),
    /** ActivityPub id of the Follow, local or remote. */
    url: p.text().nullable(),
    /** Ids of the Follow activities that the other side sent since the relation began, the newest last. */
    requestUrls: p.array<string>(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    // Accessed in SQL only:
    urlHash: p.uuid().nullable().generated('((md5(url))::uuid) stored').lazy(),
  },
})

export class Follow extends FollowSchema.class {}
FollowSchema.setClass(Follow)

export const HistoryItem = defineEntity({
  name: 'HistoryItem',
  tableName: 'history_item',
  properties: {
    id: p.integer().primary(),
    walkId: p.integer(),
    url: p.text(),
    urlHash: p.uuid().nullable(),
  },
})

export const HistoryPage = defineEntity({
  name: 'HistoryPage',
  tableName: 'history_page',
  properties: {
    walkId: p.integer().primary(),
    pageHash: p.uuid().primary(),
  },
})

export const HistoryWalk = defineEntity({
  name: 'HistoryWalk',
  tableName: 'history_walk',
  properties: {
    id: p.integer().primary(),
    actorId: p.integer(),
    state: p.text().$type<HistoryWalkState>(),
    context: p.json<HistoryWalkContext>(),
    /** When it is retried or checked again. */
    dueAt: p.datetime(3).nullable(),
    nextUrl: p.text().nullable(),
    since: p.datetime(3),
    pages: p.integer(),
    /** Items read, of `total` that the collection claims (null if it does not say). */
    seen: p.integer(),
    total: p.integer().nullable(),
    givenUp: p.integer(),
    error: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})
