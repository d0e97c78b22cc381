// Parses yt-dlp's output about videos and lists with a schema, since it comes from another site.

import { z } from 'zod'
import { DownloadError } from '../download-error.ts'

/** Metadata of another site, unchanged. The caller applies its own limits. */
export interface RemoteMetadata {
  title?: string | undefined
  description?: string | undefined
  tags?: string[] | undefined
  /** Names, as the other site has them. */
  categories?: string[] | undefined
  licence?: string | undefined
  language?: string | undefined
  /** Minimum age of viewers; 0 for everybody. */
  ageLimit?: number | undefined
  publishedAt?: Date | undefined
  /** In seconds from the start. */
  chapters?: { start: number; title: string }[] | undefined
}

export interface RemoteVideoEntry {
  url: string
  title: string | null
  publishedAt: Date | null
}

/** An invalid value counts as missing. */
const optional = <T extends z.ZodType>(type: T) => type.optional().catch(undefined)
const LONGEST_TEXT = 50_000
const text = optional(z.string().transform((value) => value.slice(0, LONGEST_TEXT)))
const number = optional(z.number().nonnegative().finite())
const texts = optional(z.array(z.string()).transform((list) => list.slice(0, 100).map((one) => one.slice(0, 1000))))

const date = {
  /** Seconds since 1970. */
  timestamp: number,
  release_timestamp: number,
  upload_date: text,
}

const infoSchema = z.object({
  _type: text,
  title: text,
  fulltitle: text,
  description: text,
  tags: texts,
  categories: texts,
  license: text,
  language: text,
  age_limit: number,
  is_live: optional(z.boolean()),
  filesize: number,
  filesize_approx: number,
  format_id: text,
  subtitles: optional(z.record(z.string(), z.unknown())),
  ...date,
  chapters: optional(
    z.array(z.object({ start_time: z.number().nonnegative(), title: z.string() })).transform((list) => list.slice(0, 1000)),
  ),
})

export interface VideoInfo {
  metadata: RemoteMetadata
  isLive: boolean
  /** Bytes, if the site reports them. */
  size: number | undefined
  /** The format that will be downloaded. */
  format: string | undefined
  /** Languages of its subtitles, as the site names them. */
  languages: string[]
}

/** Throws DownloadError `unusable` unless it is a single video. */
export function readVideoInfo(json: string): VideoInfo {
  const { success, data } = infoSchema.safeParse(parsed(json))
  if (!success) throw nothingThere()
  if (data._type !== undefined && data._type !== 'video') {
    throw new DownloadError('unusable', 'There is a list at this address, and not a single video.')
  }
  return {
    isLive: data.is_live ?? false,
    size: data.filesize ?? data.filesize_approx,
    format: data.format_id,
    languages: Object.keys(data.subtitles ?? {}),
    metadata: {
      title: data.fulltitle ?? data.title,
      description: data.description,
      tags: data.tags,
      categories: data.categories,
      licence: data.license,
      language: data.language,
      ageLimit: data.age_limit,
      publishedAt: dateOf(data),
      chapters: data.chapters?.map(({ start_time: start, title }) => ({ start, title })),
    },
  }
}

const entrySchema = z.object({ _type: text, url: text, webpage_url: text, title: text, ...date })
const listSchema = z.object({ entries: z.array(z.unknown()).optional().catch(undefined), ...entrySchema.shape })
const LISTS = ['playlist', 'multi_video']
/** Nested lists: a channel has tabs, and a tab may have lists. */
const DEEPEST = 3

/**
 * The videos of a list in order, without duplicates, or the single video; at most `limit`. Of several lists, such as the tabs of a channel,
 * videos are taken in turn. Throws DownloadError `unusable`.
 */
export function readVideoList(json: string, limit: number): RemoteVideoEntry[] {
  const { success, data } = listSchema.safeParse(parsed(json))
  if (!success) throw nothingThere()
  return videosOf(data, limit, DEEPEST).slice(0, limit)
}

function videosOf(given: unknown, limit: number, depth: number): RemoteVideoEntry[] {
  const { success, data } = listSchema.safeParse(given)
  if (!success) return []
  const isList = data.entries !== undefined || LISTS.includes(data._type ?? '')
  if (!isList) return entryOf(data)
  if (depth === 0) return []
  const lists = (data.entries ?? []).map((entry) => videosOf(entry, limit, depth - 1)).filter((list) => list.length > 0)
  const found = new Map<string, RemoteVideoEntry>()
  for (let turn = 0; found.size < limit && lists.some((list) => list.length > turn); turn += 1) {
    for (const entry of lists.flatMap((list) => list.slice(turn, turn + 1))) {
      if (!found.has(entry.url)) found.set(entry.url, entry)
    }
  }
  return [...found.values()]
}

function entryOf({ url, webpage_url, title, ...dated }: z.infer<typeof entrySchema>): RemoteVideoEntry[] {
  const address = webAddress(webpage_url ?? url ?? '')
  if (address === undefined) return []
  return [{ url: address, title: title ?? null, publishedAt: dateOf(dated) ?? null }]
}

/** An HTTP address without its fragment; undefined for any other. */
export function webAddress(text: string): string | undefined {
  const address = text.split('#', 1)[0] ?? ''
  return /^https?:\/\//i.test(address) ? address : undefined
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw nothingThere()
  }
}

const nothingThere = (): DownloadError => new DownloadError('unusable', 'There is no video at this address.')

interface Dated {
  timestamp?: number | undefined
  release_timestamp?: number | undefined
  upload_date?: string | undefined
}

function dateOf({ timestamp, release_timestamp, upload_date }: Dated): Date | undefined {
  const seconds = timestamp ?? release_timestamp
  const day = /^(\d{4})(\d\d)(\d\d)$/.exec(upload_date ?? '')
  const found = seconds !== undefined ? new Date(seconds * 1000) : day ? new Date(`${day[1]}-${day[2]}-${day[3]}`) : undefined
  return found && !Number.isNaN(found.getTime()) ? found : undefined
}
