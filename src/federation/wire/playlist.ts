// Playlists and their elements. A playlist is also a collection: its pages repeat its properties.

import { z } from 'zod'
import { type JsonObject, withContext } from './context.ts'
import { buildImage, type ImageDocument, images } from './image.ts'
import {
  type Attribution,
  attributions,
  audience,
  count,
  date,
  groups,
  httpUrl,
  iri,
  ofType,
  optional,
  optionalDate,
  optionalText,
  type Read,
  readWith,
  text,
} from './read.ts'

export interface PlaylistDocument {
  id: string
  to: string[]
  cc: string[]
  name: string
  /** Markdown. */
  description: string | null
  uuid: string
  totalItems: number
  publishedAt: Date
  updatedAt: Date
  /** Its channel, its account, or both. */
  attributedTo: Attribution[]
  /** Newer versions name the channel here. */
  audience: string[]
  thumbnail: ImageDocument | null
  /** The first page; null for an empty playlist. */
  first: string | null
}

const NAME = 120
const DESCRIPTION = 1000
const MAX_ITEMS = 1_000_000

const schema = z
  .object({
    type: ofType('Playlist'),
    id: httpUrl,
    to: audience,
    cc: audience,
    name: text(NAME),
    content: optionalText(DESCRIPTION),
    uuid: z.uuid(),
    totalItems: count.pipe(z.int().max(MAX_ITEMS)),
    published: date,
    updated: optionalDate,
    attributedTo: attributions,
    audience: groups,
    icon: images,
    first: optional(httpUrl),
  })
  .transform(
    (found): PlaylistDocument => ({
      id: found.id,
      to: found.to,
      cc: found.cc,
      name: found.name,
      description: found.content,
      uuid: found.uuid.toLowerCase(),
      totalItems: found.totalItems,
      publishedAt: found.published,
      updatedAt: found.updated ?? found.published,
      attributedTo: found.attributedTo,
      audience: found.audience,
      thumbnail: found.icon[0] ?? null,
      first: found.first,
    }),
  )
  .refine((playlist) => playlist.attributedTo.length > 0, 'attributed to no actor')

/** Reads a playlist, or the repeated properties on a page. */
export const readPlaylist = (document: unknown): Read<PlaylistDocument> => readWith(schema, document)

/** The document of a local playlist; with `page`, that page of it. */
export function buildPlaylist(
  input: Omit<PlaylistDocument, 'audience' | 'first'>,
  page?: { number: number; size: number; items: string[] },
): JsonObject {
  return withContext('playlist', {
    to: input.to,
    cc: input.cc,
    id: page ? pageUrl(input.id, page.number) : input.id,
    type: 'Playlist',
    ...(page ? pageOf(input, page) : { totalItems: input.totalItems }),
    ...(!page && input.totalItems > 0 ? { first: pageUrl(input.id, 1) } : {}),
    name: input.name,
    content: input.description,
    mediaType: 'text/markdown',
    uuid: input.uuid,
    published: input.publishedAt.toISOString(),
    updated: input.updatedAt.toISOString(),
    attributedTo: input.attributedTo.map(({ id }) => id),
    ...(input.thumbnail === null ? {} : { icon: buildImage(input.thumbnail) }),
  })
}

const pageOf = (
  { id, totalItems }: { id: string; totalItems: number },
  { number, size, items }: { number: number; size: number; items: string[] },
): JsonObject => ({
  ...(number > 1 ? { prev: pageUrl(id, number - 1) } : {}),
  ...(number * size < totalItems ? { next: pageUrl(id, number + 1) } : {}),
  partOf: id,
  orderedItems: items,
  totalItems,
})

const pageUrl = (id: string, page: number): string => `${id}?page=${page}`

export interface PlaylistElementDocument {
  id: string
  /** The video. */
  video: string
  position: number
  /** Start and end of the played part, in seconds of the video. */
  startTimestamp: number | null
  stopTimestamp: number | null
}

const LONGEST = 10_000_000
const timestamp = optional(z.int().min(0).max(LONGEST))

const elementSchema = z
  .object({
    type: ofType('PlaylistElement'),
    id: httpUrl,
    url: iri,
    position: count.pipe(z.int().max(MAX_ITEMS)),
    startTimestamp: timestamp,
    stopTimestamp: timestamp,
  })
  .transform(
    ({ id, url, position, startTimestamp, stopTimestamp }): PlaylistElementDocument => ({
      id,
      position,
      startTimestamp,
      // An element that would stop before it starts plays to the end.
      stopTimestamp: (stopTimestamp ?? 0) < (startTimestamp ?? 0) ? null : stopTimestamp,
      video: url,
    }),
  )

export const readPlaylistElement = (document: unknown): Read<PlaylistElementDocument> => readWith(elementSchema, document)

/** The document of an element of a local playlist. */
export function buildPlaylistElement(input: PlaylistElementDocument): JsonObject {
  return withContext('playlist', {
    id: input.id,
    type: 'PlaylistElement',
    url: input.video,
    position: input.position,
    ...(input.startTimestamp === null ? {} : { startTimestamp: input.startTimestamp }),
    ...(input.stopTimestamp === null ? {} : { stopTimestamp: input.stopTimestamp }),
  })
}
