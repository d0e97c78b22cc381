// Comments.

import { z } from 'zod'
import { type JsonObject, withContext } from './context.ts'
import {
  asList,
  audience,
  BOUNDS,
  hrefOf,
  httpUrl,
  iri,
  iris,
  ofType,
  optional,
  optionalDate,
  optionalIri,
  optionalText,
  type Read,
  readWith,
  text,
  typeOf,
} from './read.ts'

export interface MentionDocument {
  /** The actor. */
  href: string
  /** `@name@host` */
  name: string
}

export interface NoteDocument {
  id: string
  to: string[]
  cc: string[]
  /** Markdown for PeerTube, HTML for most others, as `mediaType` tells. Not sanitised. */
  content: string
  mediaType: string
  /** The Markdown that the content was made from; null if there is none. */
  source: string | null
  inReplyTo: string
  /** Null if it is not given. */
  publishedAt: Date | null
  updatedAt: Date | null
  /** The HTML page. */
  url: string
  /** Its author; some software adds the group. */
  attributedTo: string[]
  mentions: MentionDocument[]
  /** The approval by the video's owner. */
  replyApproval: string | null
  /** The collection of replies: Mastodon reads it for the rest of a thread. */
  replies: string | null
}

const markdown = z
  .object({ mediaType: z.string().regex(/^text\/markdown\b/i), content: text(BOUNDS.html) })
  .transform(({ content }) => content)

const schema = z
  .object({
    type: ofType('Note'),
    id: httpUrl,
    to: audience,
    cc: audience,
    content: text(BOUNDS.html),
    mediaType: optionalText(100),
    source: optional(markdown),
    inReplyTo: iri,
    published: optionalDate,
    updated: optionalDate,
    url: z.unknown().optional(),
    attributedTo: iris(BOUNDS.attributions),
    replyApproval: optionalIri,
    replies: optionalIri,
    tag: z.unknown().optional(),
  })
  .transform(
    (note): NoteDocument => ({
      id: note.id,
      to: note.to,
      cc: note.cc,
      content: note.content,
      mediaType: note.mediaType ?? 'text/html',
      source: note.source,
      inReplyTo: note.inReplyTo,
      publishedAt: note.published,
      updatedAt: note.updated,
      url: hrefOf(note.url) ?? note.id,
      attributedTo: note.attributedTo,
      mentions: mentionsOf(note.tag),
      replyApproval: note.replyApproval,
      replies: note.replies,
    }),
  )
  .refine((note) => note.attributedTo.length > 0, 'attributed to no actor')

/** Reads a comment. A note without a parent is none. */
export const readNote = (document: unknown): Read<NoteDocument> => readWith(schema, document)

/** The original text: the source, if there is one. */
export const writtenIn = ({ source, content, mediaType }: NoteDocument): { content: string; mediaType: string } =>
  source === null ? { content, mediaType } : { content: source, mediaType: 'text/markdown' }

/** The place in a thread of an unusable comment: a picture, a poll, an article, or a note without content. */
export interface ReplyDocument {
  id: string
  to: string[]
  cc: string[]
  inReplyTo: string
  publishedAt: Date | null
}

const reply = z
  .object({ id: httpUrl, to: audience, cc: audience, inReplyTo: iri, published: optionalDate })
  .transform(({ published, ...rest }): ReplyDocument => ({ ...rest, publishedAt: published }))

export const readReply = (document: unknown): Read<ReplyDocument> => readWith(reply, document)

function mentionsOf(value: unknown): MentionDocument[] {
  const mention = z.object({ href: httpUrl, name: text(BOUNDS.shortText) })
  return asList(value)
    .slice(0, BOUNDS.tags)
    .filter((tag) => typeOf(tag) === 'Mention')
    .flatMap((tag) => {
      const read = mention.safeParse(tag)
      return read.success ? [read.data] : []
    })
}

export type NoteDocumentInput = NoteDocument

/** The document of a local comment. */
export function buildNote(input: NoteDocumentInput): JsonObject {
  return withContext('comment', {
    to: input.to,
    cc: input.cc,
    type: 'Note',
    id: input.id,
    content: input.content,
    mediaType: input.mediaType,
    ...(input.source === null ? {} : { source: { content: input.source, mediaType: 'text/markdown' } }),
    inReplyTo: input.inReplyTo,
    updated: (input.updatedAt ?? input.publishedAt)?.toISOString(),
    published: input.publishedAt?.toISOString(),
    url: input.url,
    attributedTo: input.attributedTo.length === 1 ? input.attributedTo[0] : input.attributedTo,
    ...(input.replyApproval === null ? {} : { replyApproval: input.replyApproval }),
    ...(input.replies === null ? {} : { replies: input.replies }),
    tag: input.mentions.map(({ href, name }) => ({ type: 'Mention', href, name })),
  })
}
