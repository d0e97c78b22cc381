// A copy of a video, held by us or by another server; its lifecycle is the machine `redundancy`.

import { defineEntity, p } from '@mikro-orm/postgresql'

const RedundancySchema = defineEntity({
  name: 'Redundancy',
  tableName: 'redundancy',
  properties: {
    id: p.integer().primary(),
    /** Who holds it: our instance actor, or an actor of another server. */
    actorId: p.integer(),
    videoId: p.integer(),
    /** What it is a copy of: a playlist with its files, or one web video. */
    streamingPlaylistId: p.integer().nullable(),
    fileId: p.integer().nullable(),
    /** ActivityPub id. */
    url: p.text(),
    /** Where players find it. */
    fileUrl: p.text(),
    /** Name in the store, of a folder for a playlist; null for copies of others. */
    path: p.text().nullable(),
    /** What a local copy was made from. */
    sourceUrl: p.text().nullable(),
    strategy: p.text().nullable(),
    /** Bytes. */
    size: p.bigint('number'),
    expiresOn: p.datetime(3).nullable(),
    state: p.text(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime(3).nullable(),
    /** The worker that is at it; `dueAt` is the end of its lease. */
    leaseOwner: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    // Read and written in SQL alone:
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
    strategy: p.text(),
    checkedAt: p.datetime(3).nullable(),
    fullAt: p.datetime(3).nullable(),
  },
})
