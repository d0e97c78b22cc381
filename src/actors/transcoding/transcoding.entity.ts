// One transcoding of a video; its lifecycle is the machine `transcoding`.

import { defineEntity, p } from '@mikro-orm/postgresql'
import { dueIn, initialTranscoding, transcodingMachine } from '../../state-machines/transcoding.ts'
import { DomainError, defineLifecycle } from '../runtime/index.ts'

export type TranscodingOutputs = 'hls' | 'web-video' | 'both'

const TranscodingSchema = defineEntity({
  name: 'Transcoding',
  tableName: 'transcoding',
  properties: {
    id: p.integer().primary(),
    videoId: p.integer(),
    state: p.text(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime(3).nullable(),
    /** The worker that holds the lease; `dueAt` is its end. */
    leaseOwner: p.text().nullable(),
    error: p.text().nullable(),
    /** The outputs; null for the configured ones. */
    outputs: p.text().$type<TranscodingOutputs>().nullable(),
    /** True if the original stays after the end, whatever the configuration says. */
    keepSource: p.boolean(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export class Transcoding extends TranscodingSchema.class {}
TranscodingSchema.setClass(Transcoding)

export const transcodingLifecycle = defineLifecycle({
  table: 'transcoding',
  machine: transcodingMachine,
  initial: initialTranscoding,
  dueIn,
  columns: ({ state, context }) => ({
    state,
    context,
    error: context.error,
    ...(isActive(state) ? {} : { leaseOwner: null }),
  }),
  refusal: (state) => new DomainError('conflict', `This transcoding is ${state}.`),
})

/** True if a worker has the transcoding, or one is awaited. */
export const isActive = (state: string): boolean => ['planned', 'running', 'packaged', 'stored'].includes(state)
