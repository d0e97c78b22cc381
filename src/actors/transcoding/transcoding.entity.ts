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
    /** The worker that is at it; `dueAt` is the end of its lease. */
    leaseOwner: p.text().nullable(),
    error: p.text().nullable(),
    /** Which files it makes; null as the configuration says when it runs. */
    outputs: p.text().$type<TranscodingOutputs>().nullable(),
    /** Whether the original stays when it is done, whatever the configuration says. */
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

/** Whether a worker has the transcoding, or one is awaited. */
export const isActive = (state: string): boolean => ['planned', 'running', 'packaged', 'stored'].includes(state)
