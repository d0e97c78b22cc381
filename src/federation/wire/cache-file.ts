// A copy of a video on another server: of its HLS playlist, or of one web video.

import { z } from 'zod'
import type { Audience } from './activity.ts'
import { type JsonObject, withContext } from './context.ts'
import { audience, httpUrl, iri, ofType, optionalCount, optionalDate, optionalNumber, optionalText, type Read, readWith } from './read.ts'

export interface CacheFileDocument extends Audience {
  id: string
  /** The video. */
  video: string
  /** Null without an expiry. */
  expiresAt: Date | null
  copy: CopyDocument
}

export type CopyDocument =
  /** `url`: the folder of the playlists and their files. */
  | { kind: 'playlist'; url: string }
  | {
      kind: 'file'
      url: string
      mediaType: string
      /** px. */
      resolution: number
      sizeBytes: number
      /** -1 if it is unknown. */
      fps: number
    }

const HLS = 'application/x-mpegURL'
const HLS_TYPES = new Set([HLS.toLowerCase(), 'application/vnd.apple.mpegurl'])
const FILE_TYPE = /^(video|audio)\/[\w.+-]{1,40}$/

const link = z
  .object({
    type: ofType('Link'),
    mediaType: optionalText(100),
    mimeType: optionalText(100),
    href: httpUrl,
    height: optionalCount,
    size: optionalCount,
    fps: optionalNumber,
  })
  .transform((found, context): CopyDocument => {
    const mediaType = found.mediaType ?? found.mimeType ?? ''
    if (HLS_TYPES.has(mediaType.toLowerCase())) return { kind: 'playlist', url: found.href }
    if (FILE_TYPE.test(mediaType) && found.height !== null && found.size !== null) {
      const { href, height, size } = found
      return { kind: 'file', url: href, mediaType, resolution: height, sizeBytes: size, fps: found.fps ?? -1 }
    }
    context.issues.push({ code: 'custom', input: mediaType, message: 'no copy of a playlist or file' })
    return z.NEVER
  })

const schema = z
  .object({
    type: ofType('CacheFile'),
    id: httpUrl,
    to: audience,
    cc: audience,
    object: iri,
    expires: optionalDate,
    url: z.preprocess((value) => (Array.isArray(value) ? value[0] : value), link),
  })
  .transform(
    ({ id, to, cc, object, expires, url }): CacheFileDocument => ({
      id,
      to,
      cc,
      video: object,
      expiresAt: expires,
      copy: url,
    }),
  )

export const readCacheFile = (document: unknown): Read<CacheFileDocument> => readWith(schema, document)

/** The document of a copy. */
export function buildCacheFile({ id, to, cc, video, expiresAt, copy }: CacheFileDocument): JsonObject {
  return withContext('cache-file', {
    to,
    cc,
    id,
    type: 'CacheFile',
    object: video,
    expires: expiresAt?.toISOString() ?? null,
    url: linkTo(copy),
  })
}

function linkTo(copy: CopyDocument): JsonObject {
  if (copy.kind === 'playlist') return { type: 'Link', mediaType: HLS, href: copy.url }
  const { url, mediaType, resolution, sizeBytes, fps } = copy
  return { type: 'Link', mediaType, href: url, height: resolution, size: sizeBytes, fps }
}
