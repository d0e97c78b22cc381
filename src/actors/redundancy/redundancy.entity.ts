// A local or remote copy of a video; its lifecycle is the machine `redundancy`.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { Strategy } from './mirror-plan.ts'

const RedundancySchema = defineEntity({
  name: 'Redundancy',
  tableName: 'redundancy',
  properties: {
    id: p.integer().primary(),
    /** The holder: the local instance actor, or a remote actor. */
    actorId: p.integer(),
    videoId: p.integer(),
    /** The copied object: a playlist with its files, or one web video. */
    streamingPlaylistId: p.integer().nullable(),
    fileId: p.integer().nullable(),
    /** ActivityPub id. */
    url: p.text(),
    /** Address for players. */
    fileUrl: p.text(),
    /** Name in the store, of a folder for a playlist; null for remote copies. */
    path: p.text().nullable(),
    /** Source of a local copy. */
    sourceUrl: p.text().nullable(),
    strategy: p.text().nullable(),
    /** Bytes. */
    size: p.bigint('number'),
    expiresOn: p.datetime(3).nullable(),
    state: p.text(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime(3).nullable(),
    /** The worker that holds the lease; `dueAt` is its end. */
    leaseOwner: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    // Accessed in SQL only:
    urlHash: p.uuid().nullable().generated('((md5(url))::uuid) stored').lazy(),
  },
})

export class Redundancy extends RedundancySchema.class {}
RedundancySchema.setClass(Redundancy)

export const RedundancyStrategy = defineEntity({
  name: 'RedundancyStrategy',
  tableName: 'redundancy_strategy',
  properties: {
    id: p.integer().primary(),
    strategy: p.text().$type<Strategy>(),
    checkedAt: p.datetime(3).nullable(),
    fullAt: p.datetime(3).nullable(),
  },
})
