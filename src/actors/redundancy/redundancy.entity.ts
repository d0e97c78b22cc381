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
    url: p.string(),
    /** Where players find it. */
    fileUrl: p.string(),
    /** Name in the store, of a folder for a playlist; null for copies of others. */
    path: p.string().nullable(),
    /** What a copy of ours was made from. */
    sourceUrl: p.string().nullable(),
    strategy: p.string().nullable(),
    /** Bytes. */
    size: p.bigint('number'),
    expiresOn: p.datetime().nullable(),
    state: p.string(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime().nullable(),
    /** The worker that is at it; `dueAt` is the end of its lease. */
    leaseOwner: p.string().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
})

export class Redundancy extends RedundancySchema.class {}
RedundancySchema.setClass(Redundancy)
