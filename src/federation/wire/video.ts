// Videos in PeerTube's form.

import { z } from 'zod'
import { type ChapterDocument, chapters } from './chapters.ts'
import { AS_PUBLIC, type JsonObject, withContext } from './context.ts'
import { buildImage, type ImageDocument, images } from './image.ts'
import {
  type Attribution,
  asList,
  attributions,
  audience,
  BOUNDS,
  count,
  date,
  duration,
  groups,
  hrefOf,
  httpUrl,
  isHttpUrl,
  listOf,
  ofType,
  optional,
  optionalBoolean,
  optionalCount,
  optionalDate,
  optionalIri,
  optionalNumber,
  optionalText,
  type Read,
  readWith,
  seconds,
  text,
  typeOf,
} from './read.ts'
import { buildLinks, readLinks, type VideoLinks } from './video-links.ts'

/** A category, licence or language: its key and its English name. */
export interface LabelledDocument {
  identifier: string
  name: string
}

export interface CaptionDocument {
  language: string
  label: string
  automaticallyGenerated: boolean
  url: string
}

export interface StoryboardDocument {
  url: string
  mediaType: string
  /** px */
  width: number
  height: number
  tileWidth: number
  tileHeight: number
  /** seconds */
  tileDuration: number
}

export interface VideoDocument extends VideoLinks {
  id: string
  uuid: string
  to: string[]
  cc: string[]
  name: string
  durationSeconds: number
  /** Its channel, its account, or both. */
  attributedTo: Attribution[]
  /** Newer versions name the channel here. */
  audience: string[]
  category: LabelledDocument | null
  licence: LabelledDocument | null
  language: LabelledDocument | null
  views: number
  isSensitive: boolean
  waitTranscoding: boolean
  /** The number of `VideoState`; null if it is missing (newer versions omit it for published videos). */
  state: number | null
  /** 1 enabled, 2 disabled, 3 requires approval. */
  commentsPolicy: 1 | 2 | 3
  downloadEnabled: boolean
  publishedAt: Date
  originallyPublishedAt: Date | null
  updatedAt: Date
  uploadedAt: Date | null
  tags: string[]
  description: string | null
  descriptionMediaType: string
  support: string | null
  captions: CaptionDocument[]
  /** Smallest first: thumbnail, preview. */
  thumbnails: ImageDocument[]
  storyboard: StoryboardDocument | null
  aspectRatio: number | null
  likes: string | null
  dislikes: string | null
  shares: string | null
  comments: string | null
  /** The address of the chapters, or the chapters. */
  chapters: string | ChapterDocument[] | null
  /** Properties of a live; null for other videos. */
  live: { saveReplay: boolean; isPermanent: boolean; latencyMode: number } | null
}

const labelled = optional(
  z.preprocess(
    (value) => (typeof value === 'string' ? { identifier: value, name: value } : value),
    z
      .object({ identifier: z.coerce.string().min(1).max(100), name: optionalText(BOUNDS.shortText) })
      .transform(({ identifier, name }) => ({ identifier, name: name ?? identifier })),
  ),
)

const caption = z
  .object({
    identifier: z.string().min(1).max(20),
    name: optionalText(BOUNDS.shortText),
    url: z.preprocess(captionUrl, httpUrl),
    automaticallyGenerated: optionalBoolean,
  })
  .transform(({ identifier, name, url, automaticallyGenerated }) => ({
    language: identifier,
    label: name ?? identifier,
    automaticallyGenerated: automaticallyGenerated ?? false,
    url,
  }))

/** Newer versions offer several formats, of which WebVTT is used. */
function captionUrl(value: unknown): unknown {
  return hrefOf(
    asList(value).filter((one) => {
      const mediaType = typeof one === 'object' && one && 'mediaType' in one ? one.mediaType : null
      return mediaType === null || mediaType === undefined || mediaType === 'text/vtt'
    }),
  )
}

const size = z.number().int().min(1).max(20_000)
const storyboard = z
  .object({
    href: httpUrl,
    mediaType: text(100),
    width: size,
    height: size,
    tileWidth: size,
    tileHeight: size,
    tileDuration: seconds,
  })
  .transform(({ href, ...rest }) => ({ url: href, ...rest }))

const schema = z
  .object({
    type: ofType('Video'),
    id: httpUrl,
    uuid: z.guid(),
    to: audience,
    cc: audience,
    name: text(BOUNDS.shortText),
    duration: seconds,
    attributedTo: attributions,
    audience: groups,
    category: labelled,
    licence: labelled,
    language: labelled,
    views: count,
    sensitive: optionalBoolean,
    waitTranscoding: optionalBoolean,
    state: optionalCount,
    commentsEnabled: optionalBoolean,
    commentsPolicy: optional(z.literal([1, 2, 3])),
    downloadEnabled: optionalBoolean,
    published: date,
    originallyPublishedAt: optionalDate,
    updated: date,
    uploadDate: optionalDate,
    tag: z.unknown().optional(),
    content: optionalText(BOUNDS.html),
    mediaType: optionalText(100),
    support: optionalText(BOUNDS.text),
    subtitleLanguage: listOf<CaptionDocument>(caption, BOUNDS.captions),
    icon: images,
    preview: z.unknown().optional(),
    aspectRatio: optionalNumber,
    url: z.unknown().optional().transform(readLinks),
    likes: optionalIri,
    dislikes: optionalIri,
    shares: optionalIri,
    comments: optionalIri,
    hasParts: z.unknown().optional(),
    isLiveBroadcast: optionalBoolean,
    liveSaveReplay: optionalBoolean,
    permanentLive: optionalBoolean,
    latencyMode: optionalCount,
  })
  .transform((video): VideoDocument => {
    return {
      id: video.id,
      uuid: video.uuid,
      to: video.to,
      cc: video.cc,
      name: video.name,
      durationSeconds: video.duration,
      attributedTo: video.attributedTo,
      audience: video.audience,
      category: video.category,
      licence: video.licence,
      language: video.language,
      views: video.views,
      isSensitive: video.sensitive ?? false,
      waitTranscoding: video.waitTranscoding ?? false,
      state: video.state,
      commentsPolicy: video.commentsPolicy ?? (video.commentsEnabled === true ? 1 : 2),
      downloadEnabled: video.downloadEnabled ?? true,
      publishedAt: video.published,
      originallyPublishedAt: video.originallyPublishedAt,
      updatedAt: video.updated,
      uploadedAt: video.uploadDate,
      tags: hashtags(video.tag),
      description: video.content,
      descriptionMediaType: video.mediaType ?? 'text/markdown',
      support: video.support,
      captions: video.subtitleLanguage,
      thumbnails: video.icon,
      storyboard: storyboardOf(video.preview),
      aspectRatio: video.aspectRatio,
      ...video.url,
      likes: video.likes,
      dislikes: video.dislikes,
      shares: video.shares,
      comments: video.comments,
      chapters: isHttpUrl(video.hasParts) ? video.hasParts : video.hasParts ? chapters.parse(video.hasParts) : null,
      live: video.isLiveBroadcast
        ? {
            saveReplay: video.liveSaveReplay ?? false,
            isPermanent: video.permanentLive ?? false,
            latencyMode: video.latencyMode ?? 1,
          }
        : null,
    }
  })
  .refine((video) => video.attributedTo.length > 0, 'attributed to no actor')

/** Reads a video. The caller checks the sender. */
export const readVideo = (document: unknown): Read<VideoDocument> => readWith(schema, document)

/** The names of the Hashtags among tags. */
function hashtags(value: unknown): string[] {
  const names = asList(value)
    .slice(0, BOUNDS.tags)
    .filter((tag) => typeOf(tag) === 'Hashtag')
    .flatMap((tag) => listOf(z.object({ name: text(100) }), 1).parse(tag))
    .map(({ name }) => name.replace(/^#/, '').trim())
  return [...new Set(names)].filter((name) => name !== '')
}

function storyboardOf(value: unknown): StoryboardDocument | null {
  for (const one of asList(value).slice(0, BOUNDS.images)) {
    if (typeof one !== 'object' || one === null || !('rel' in one) || !asList(one.rel).includes('storyboard')) continue
    const [found] = listOf<StoryboardDocument>(storyboard, 1).parse('url' in one ? one.url : undefined)
    if (found) return found
  }
  return null
}

export type VideoDocumentInput = Omit<VideoDocument, 'audience'>

/** The document of a local video. */
export function buildVideo(input: VideoDocumentInput): JsonObject {
  const given = (name: string, value: unknown) => (value === null ? {} : { [name]: value })
  return withContext('video', {
    to: input.to,
    cc: input.cc,
    type: 'Video',
    id: input.id,
    name: input.name,
    duration: duration(input.durationSeconds),
    uuid: input.uuid,
    ...given('category', input.category),
    ...given('licence', input.licence),
    ...given('language', input.language),
    views: input.views,
    sensitive: input.isSensitive,
    waitTranscoding: input.waitTranscoding,
    ...given('state', input.state),
    commentsEnabled: input.commentsPolicy !== 2,
    canReply: input.commentsPolicy === 1 ? null : AS_PUBLIC,
    commentsPolicy: input.commentsPolicy,
    downloadEnabled: input.downloadEnabled,
    published: input.publishedAt.toISOString(),
    originallyPublishedAt: input.originallyPublishedAt?.toISOString() ?? null,
    updated: input.updatedAt.toISOString(),
    ...(input.uploadedAt === null ? {} : { uploadDate: input.uploadedAt.toISOString() }),
    tag: input.tags.map((name) => ({ type: 'Hashtag', name })),
    mediaType: input.descriptionMediaType,
    content: input.description,
    support: input.support,
    subtitleLanguage: input.captions.map(({ language, label, automaticallyGenerated, url }) => ({
      identifier: language,
      name: label,
      automaticallyGenerated,
      url,
    })),
    icon: input.thumbnails.map(buildImage),
    ...(input.storyboard === null ? {} : { preview: [buildStoryboard(input.storyboard)] }),
    aspectRatio: input.aspectRatio,
    url: buildLinks(input),
    ...given('likes', input.likes),
    ...given('dislikes', input.dislikes),
    ...given('shares', input.shares),
    ...given('comments', input.comments),
    ...given('hasParts', input.chapters),
    attributedTo: input.attributedTo.map(({ type, id }) => (type === null ? id : { type, id })),
    isLiveBroadcast: input.live !== null,
    liveSaveReplay: input.live?.saveReplay ?? null,
    permanentLive: input.live?.isPermanent ?? null,
    latencyMode: input.live?.latencyMode ?? null,
  })
}

const buildStoryboard = (input: StoryboardDocument): JsonObject => ({
  type: 'Image',
  rel: ['storyboard'],
  url: [
    {
      mediaType: input.mediaType,
      href: input.url,
      width: input.width,
      height: input.height,
      tileWidth: input.tileWidth,
      tileHeight: input.tileHeight,
      tileDuration: duration(input.tileDuration),
    },
  ],
})
