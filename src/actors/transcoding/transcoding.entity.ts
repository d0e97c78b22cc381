// One transcoding of a video; its lifecycle is the machine `transcoding`.

import { defineEntity, p } from '@mikro-orm/postgresql'

const TranscodingSchema = defineEntity({
  name: 'Transcoding',
  tableName: 'transcoding',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    state: p.string(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime().nullable(),
    /** The worker that is at it; `dueAt` is the end of its lease. */
    leaseOwner: p.string().nullable(),
    error: p.string().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
})

export class Transcoding extends TranscodingSchema.class {}
TranscodingSchema.setClass(Transcoding)
