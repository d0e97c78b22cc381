// Watch actions: the parts of a video that one viewer watched.

import { z } from 'zod'
import type { Audience } from './activity.ts'
import { type JsonObject, withContext } from './context.ts'
import {
  audience,
  BOUNDS,
  count,
  date,
  duration,
  httpUrl,
  iri,
  listOf,
  ofType,
  optional,
  optionalText,
  type Read,
  readWith,
  seconds,
} from './read.ts'

/** Seconds of the video. */
export interface WatchSectionDocument {
  startTimestamp: number
  endTimestamp: number
}

export interface WatchActionDocument extends Audience {
  id: string
  uuid: string
  /** The address of the video. */
  target: string
  /** Watched seconds. */
  durationSeconds: number
  startedAt: Date
  endedAt: Date
  sections: WatchSectionDocument[]
  /** ISO 3166-1, two letters. */
  country: string | null
  region: string | null
}

const section = z
  .object({ startTimestamp: count, endTimestamp: count })
  .refine(({ startTimestamp, endTimestamp }) => endTimestamp >= startTimestamp && endTimestamp <= LONGEST_SECONDS)
const LONGEST_SECONDS = 10_000_000

const location = z.object({
  addressCountry: optional(z.string().regex(/^[A-Z]{2}$/)),
  addressRegion: optionalText(BOUNDS.shortText),
})

const schema = z
  .object({
    type: ofType('WatchAction'),
    id: httpUrl,
    uuid: z.uuid().transform((uuid) => uuid.toLowerCase()),
    to: audience,
    cc: audience,
    object: iri,
    actionStatus: z.literal('CompletedActionStatus'),
    duration: seconds,
    startTime: date,
    endTime: date,
    watchSections: listOf<WatchSectionDocument>(section, BOUNDS.items),
    location: optional(location),
  })
  .refine(({ startTime, endTime }) => endTime >= startTime, 'it ends before it begins')
  .transform(
    (action): WatchActionDocument => ({
      id: action.id,
      uuid: action.uuid,
      to: action.to,
      cc: action.cc,
      target: action.object,
      durationSeconds: action.duration,
      startedAt: action.startTime,
      endedAt: action.endTime,
      sections: action.watchSections,
      country: action.location?.addressCountry ?? null,
      region: action.location?.addressRegion ?? null,
    }),
  )

export const readWatchAction = (document: unknown): Read<WatchActionDocument> => readWith(schema, document)

export function buildWatchAction(input: WatchActionDocument): JsonObject {
  return withContext('watch-action', {
    to: input.to,
    cc: input.cc,
    id: input.id,
    type: 'WatchAction',
    duration: duration(input.durationSeconds),
    startTime: input.startedAt.toISOString(),
    endTime: input.endedAt.toISOString(),
    object: input.target,
    uuid: input.uuid,
    actionStatus: 'CompletedActionStatus',
    ...(input.country === null ? {} : { location: locationOf(input.country, input.region) }),
    watchSections: input.sections.map(({ startTimestamp, endTimestamp }) => ({ startTimestamp, endTimestamp })),
  })
}

const locationOf = (country: string, region: string | null): JsonObject => ({
  addressCountry: country,
  ...(region === null ? {} : { addressRegion: region }),
})
