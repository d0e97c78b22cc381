// Comments: written by local users, received from other servers, removed by their author, the video's owner or the staff. A removed comment
// keeps its row, so that the replies below it keep their place.

import type { Columns, Sql } from '../../platform/database/index.ts'
import { type AutomaticTags, type CommentTags, tagComments } from '../automatic-tag/index.ts'
import { blockDeletes } from '../incoming-activity/index.ts'
import { type ActorDeps, DomainError, makeBatchedCommands, notFound, type Outcome, type PassOn, type Unit } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { addComments, announceComments } from '../video/index.ts'
import type { Comment } from './comment.entity.ts'
import {
  isHiddenBelow,
  type KnownComment,
  knownAs,
  mayBeHidden,
  type Parent,
  type PlaceForComment,
  parentOf,
  parentWith,
  placesFor,
  unknownParent,
  type VideoRow,
  videoOf,
} from './comment.places.ts'
import { assertMayRemove, assertTakesComments, assertTakesRemoteComments, isPendingReview, seesPendingReview } from './comment.policy.ts'
import { loadComment, tombstoneComment, tombstoneLost } from './comment.rows.ts'
import { mentionedNames, storeMentions } from './mentions.ts'
import { toPlainText } from './plain-text.ts'
import { findOrRestoreComment, removeRetained } from './retained-comments.ts'

export interface RemoteComment {
  url: string
  videoId: number
  accountId: number
  parentUrl: string | null
  content: string
  mediaType: string
  createdAt: Date
  /** ActivityPub ids of the mentioned actors. */
  mentions?: readonly string[]
  /** The activity as received, to be forwarded when the comment is approved. */
  activity?: string | null
  /** When it was requested from its server; omitted if its author sent it. */
  askedAt?: Date | undefined
  /** Runs if the comment is new and visible. */
  passOn?: PassOn
}

/** Forward a comment only if it is new and not pending review. */
export interface ReceivedComment {
  isNew: boolean
  isPendingReview: boolean
  /** Set if only its tags hide the comment. */
  isPendingByTags?: true
  /** Automatic tags of a new comment by the lists of the instance, if there are any. */
  tags?: readonly string[]
}

/** Maximum characters of a comment (contract, fields.videoComment). */
export const MAX_COMMENT_LENGTH = 10_000
/** Remote comments per transaction. */
const RECEIVED_AT_ONCE = 50

export type Comments = ReturnType<typeof makeComments>

export function makeComments(deps: ActorDeps & { automaticTags: AutomaticTags }) {
  const { tell, urls, automaticTags } = deps
  const receive = makeBatchedCommands({ tell, run: receiveAll, max: RECEIVED_AT_ONCE })

  return {
    /**
     * Returns the id. Throws `conflict` if comments are disabled, `not_found` for a video or parent that is unknown or hidden from the
     * author, and `invalid` for a parent under another video.
     */
    async add({ videoId, by, text, inReplyTo }: { videoId: number; by: NonNullable<Viewer>; text: string; inReplyTo?: number }) {
      // Some clients render the text as HTML.
      const html = /[<&]/.test(text) ? toPlainText(text, 'text/html', MAX_COMMENT_LENGTH) : undefined
      const tags = await automaticTags.ofComment({ videoId, text, ...(html === undefined ? {} : { html }) })
      return await tell.create(async (unit) => {
        const video = await videoOf(unit.query, videoId, by.accountId)
        assertTakesComments(video)
        const sees = { accountId: by.accountId, held: seesPendingReview(video, by) }
        const parent = inReplyTo === undefined ? undefined : await parentOf(unit.query, videoId, inReplyTo, sees)
        const id = await nextId(unit.query)
        const url = urls.comment(video.uuid, id)
        const { accountId } = by
        const [stored] = await insert(unit, [
          {
            id,
            url,
            videoId,
            accountId,
            text,
            parent,
            createdAt: unit.now,
            tags,
            heldActivity: null,
            held: isPendingReview(video, by, tags),
            hidden: await isHiddenBelow(unit.query, video, { parent, tags }),
          },
        ])
        if (stored === undefined) throw new Error(`${url} is the address of another comment already.`)
        await storeMentions(unit.query, id, { names: mentionedNames(text, urls.host) })
        unit.created({ aggregate: 'comment', id })
        return id
      })
    },

    /**
     * Stores a remote comment. Idempotent. Throws `not_found` for an unknown parent, `conflict` if comments are disabled, `forbidden` for
     * videos that are not public and for the URL of another comment, `unprocessable` if its text is empty after cleaning, and `gone` if it
     * was removed before it arrived or while it was fetched.
     */
    async receiveComment(comment: RemoteComment): Promise<ReceivedComment> {
      const text = toPlainText(comment.content, comment.mediaType, MAX_COMMENT_LENGTH)
      const tags = await automaticTags.ofComment({ videoId: comment.videoId, text })
      return await receive({ ...comment, text, tags })
    },

    /** Stores a removed remote comment, so that replies below it have a parent. */
    async receiveTombstone(stone: { url: string; videoId: number; parentUrl: string | null; createdAt: Date }): Promise<void> {
      const { url, videoId, parentUrl, createdAt } = stone
      await tell.create(async (unit) => {
        const video = await videoOf(unit.query, videoId, null)
        assertTakesRemoteComments(video)
        const parent = parentUrl === null ? undefined : await parentWith(unit.query, videoId, parentUrl)
        const at = new Date(Math.min(createdAt.getTime(), unit.now.getTime()))
        await unit.query(
          `insert into comment (url, video_id, text, thread_id, parent_id, created_at, updated_at, deleted_at)
           values ($1, $2, '', $3, $4, $5, $6, $6) on conflict (url_hash) do nothing`,
          [url, videoId, parent?.threadId ?? null, parent?.id ?? null, at, unit.now],
        )
      })
    },

    /** Throws `forbidden`, or `conflict` if it is already removed. */
    async remove(commentId: number, by: NonNullable<Viewer>): Promise<void> {
      await tell({ aggregate: 'comment', id: commentId }, async (unit) => {
        const comment = await loadComment(unit.query, commentId)
        assertMayRemove(comment, by)
        // Local comments are removed in the name of their author; remote comments on local videos by the video's owner.
        const byOwner = !comment.isAuthorLocal && comment.isVideoLocal
        await tombstoneComment(unit, comment, byOwner ? comment.ownerActorId : (comment.authorActorId ?? comment.ownerActorId))
      })
    },

    /** Removes a retained comment, by its author. Returns false if there is none. */
    async removeRetained(commentId: number, { accountId }: NonNullable<Viewer>): Promise<boolean> {
      return (await removeRetained(tell, { accountId, commentId })) > 0
    },

    /**
     * Handles a removal by another server: that of the author or of the video. Returns the video and queues `passOn` if followers must be
     * notified: not for a comment that is unknown, already removed, or was never visible. Throws `forbidden`.
     */
    async removeReceived(options: { url: string; actorId: number; passOn?: PassOn }): Promise<{ videoId: number } | undefined> {
      const { url, actorId, passOn } = options
      const commentId = await findOrRestoreComment(deps, url)
      if (commentId === undefined) return undefined
      return await tell({ aggregate: 'comment', id: commentId }, async (unit) => {
        const comment = await loadComment(unit.query, commentId)
        const may = [comment.authorActorId, ...(comment.isVideoLocal ? [] : [comment.ownerActorId, comment.channelActorId])]
        if (!may.includes(actorId)) throw new DomainError('forbidden', 'Only its author and the video’s owner remove a comment.')
        if (comment.state === 'removed') return undefined
        await tombstoneComment(unit, comment, actorId)
        if (comment.state === 'held') return undefined
        await passOn?.(unit, comment.videoId)
        return { videoId: comment.videoId }
      })
    },

    /** Removes a remote comment on a local video that its server no longer has. Throws `not_found`. */
    async removeLost(commentId: number): Promise<void> {
      await tell({ aggregate: 'comment', id: commentId }, async (unit) => tombstoneLost(unit, await loadComment(unit.query, commentId)))
    },

    /** Removes the text of a comment whose remote author is deleted. Its place stays without an author. */
    async removeAuthor(commentId: number): Promise<void> {
      await tell({ aggregate: 'comment', id: commentId }, async (unit) => {
        await tombstoneLost(unit, await loadComment(unit.query, commentId))
        await unit.query('update comment set account_id = null where id = $1', [commentId])
      })
    },
  }
}

/** Nobody is notified of a remote mention in an older comment. */
const NEWS_MS = 7 * 24 * 3_600_000

interface NewComment {
  /** Assigned on insert if omitted. */
  id?: number
  url: string
  videoId: number
  accountId: number
  text: string
  held: boolean
  /** True if its parent is hidden. */
  hidden: boolean
  heldActivity: string | null
  parent: Parent | undefined
  createdAt: Date
  tags: CommentTags
}

/** A remote comment, parsed and tagged. */
interface IncomingComment extends RemoteComment {
  text: string
  tags: CommentTags
}

async function receiveAll(unit: Unit, incoming: IncomingComment[], { isAlone }: { isAlone: boolean }): Promise<Outcome<ReceivedComment>[]> {
  await blockDeletes(
    unit.query,
    incoming.map(({ url }) => url),
  )
  const places = await placesFor(unit.query, incoming, { skipLocked: !isAlone })
  const fresh = new Map<IncomingComment, NewComment & { video: VideoRow }>()
  const outcomes = new Map<IncomingComment, Outcome<ReceivedComment>>()
  for (const [at, comment] of incoming.entries()) {
    const place = places[at]
    const waitsForLocks = !place || (!place.known && mayBeHidden(place.video, { parent: place.parent, tags: comment.tags }))
    if (waitsForLocks && !isAlone) outcomes.set(comment, 'alone')
    else {
      try {
        const decided = await decide(unit, comment, place)
        if ('isNew' in decided) outcomes.set(comment, { answer: decided })
        else fresh.set(comment, decided)
      } catch (error) {
        outcomes.set(comment, refusalOf(error))
      }
    }
  }
  const ids = await insert(unit, [...fresh.values()])
  for (const [at, [comment, stored]] of [...fresh].entries()) {
    outcomes.set(comment, await settle(unit, comment, { ...stored, id: ids[at] }))
  }
  return incoming.map((comment) => outcomes.get(comment) ?? 'alone')
}

function refusalOf(error: unknown): { refusal: DomainError } {
  if (error instanceof DomainError) return { refusal: error }
  throw error
}

/** Decides what to store, or finds the existing comment. Writes nothing. Throws like `receiveComment`. */
async function decide(
  unit: Unit,
  comment: IncomingComment,
  place: PlaceForComment | undefined,
): Promise<ReceivedComment | (NewComment & { video: VideoRow })> {
  const { url, videoId, accountId, parentUrl, text, tags, createdAt, activity = null } = comment
  const known = place ? place.known : await knownAs(unit.query, url)
  if (known) return received(known, { videoId, accountId })
  if (text === '') throw new DomainError('unprocessable', 'This comment is empty.')
  if (!place) throw notFound('Video not found')
  const { video, parent, isDeleted } = place
  assertTakesRemoteComments(video)
  if (isDeleted) throw new DomainError('gone', `${url} was removed already.`)
  if (parentUrl !== null && !parent) throw unknownParent()
  const held = isPendingReview(video, null, { ...video, ...tags })
  const hidden = await isHiddenBelow(unit.query, video, { parent, tags })
  return {
    url,
    videoId,
    accountId,
    text,
    held,
    hidden,
    parent,
    tags,
    video,
    heldActivity: (held || hidden) && !video.remote ? activity : null,
    // A date in the future would stay on top of the list.
    createdAt: new Date(Math.min(createdAt.getTime(), unit.now.getTime())),
  }
}

/** Runs after the insert. `id` is undefined if another comment has this URL by now. */
async function settle(
  unit: Unit,
  { mentions = [], passOn }: IncomingComment,
  {
    id,
    url,
    videoId,
    accountId,
    held,
    hidden,
    tags,
    video,
    createdAt,
  }: Omit<NewComment, 'id'> & {
    id: number | undefined
    video: VideoRow
  },
): Promise<Outcome<ReceivedComment>> {
  if (id === undefined) {
    try {
      return { answer: received(await knownAs(unit.query, url), { videoId, accountId }) }
    } catch (error) {
      return refusalOf(error)
    }
  }
  if (unit.now.getTime() - createdAt.getTime() < NEWS_MS) await storeMentions(unit.query, id, { urls: mentions })
  if (!held && !hidden) await passOn?.(unit, videoId)
  return { answer: { isNew: true, isPendingReview: held, ...reviewResult(tags, { held, video }) } }
}

/** Returns the id of each new comment. A comment whose URL exists has none. */
async function insert(unit: Unit, comments: readonly NewComment[]): Promise<(number | undefined)[]> {
  if (comments.length === 0) return []
  const rows = await unit.query<Columns<typeof Comment, 'id' | 'url'>>(
    `insert into comment (id, url, video_id, account_id, text, held_for_review, held_activity, thread_id, parent_id,
       created_at, updated_at)
     select coalesce(c.id, ${NEXT_ID}), c.url, c.video_id, c.account_id, c.text, c.held, c.held_activity, c.thread_id,
       c.parent_id, c.created_at, c.created_at
     from unnest((select $1::int[]), (select $2::text[]), (select $3::int[]), (select $4::int[]), (select $5::text[]),
         (select $6::boolean[]), (select $7::text[]), (select $8::int[]), (select $9::int[]), (select $10::timestamptz[]))
       with ordinality as c (id, url, video_id, account_id, text, held, held_activity, thread_id, parent_id, created_at, place)
     order by c.place on conflict (url_hash) do nothing returning id, url`,
    [
      comments.map(({ id = null }) => id),
      comments.map(({ url }) => url),
      comments.map(({ videoId }) => videoId),
      comments.map(({ accountId }) => accountId),
      comments.map(({ text }) => text),
      comments.map(({ held }) => held),
      comments.map(({ heldActivity }) => heldActivity),
      comments.map(({ parent }) => parent?.threadId ?? null),
      comments.map(({ parent }) => parent?.id ?? null),
      comments.map(({ createdAt }) => createdAt),
    ],
  )
  const idOf = new Map(rows.map(({ id, url }) => [url, id]))
  const counted = new Map<number, number>()
  const tagged: { id: number; tags: CommentTags }[] = []
  const ids = comments.map(({ url, videoId, held, hidden, tags }) => {
    const id = idOf.get(url)
    if (id === undefined) return undefined
    // The first of several with the same URL.
    idOf.delete(url)
    announceComments(unit, videoId)
    tagged.push({ id, tags })
    if (!held && !hidden) counted.set(videoId, (counted.get(videoId) ?? 0) + 1)
    unit.emit({ aggregate: 'comment', id }, 'CommentCreated', { commentId: id })
    return id
  })
  await tagComments(unit.query, tagged)
  await addComments(unit, counted)
  return ids
}

/** The result for a comment that is already stored. Throws `forbidden` if its URL belongs to another comment. */
function reviewResult(tags: CommentTags, { held, video }: { held: boolean; video: VideoRow }): Partial<ReceivedComment> {
  const names = tags.tags.filter(({ ownerId }) => ownerId === null).map(({ name }) => name)
  return {
    ...(held && !isPendingReview(video, null, video) ? { isPendingByTags: true } : {}),
    ...(names.length > 0 ? { tags: names } : {}),
  }
}

function received(known: KnownComment | undefined, incoming: { videoId: number; accountId: number }): ReceivedComment {
  if (known?.videoId === incoming.videoId && known.accountId === incoming.accountId) {
    return { isNew: false, isPendingReview: known.isPendingReview }
  }
  throw new DomainError('forbidden', 'This address belongs to another comment.')
}

const NEXT_ID = "nextval(pg_get_serial_sequence('comment', 'id'))"

/** Assigned before the insert, because the URL of a local comment contains it. */
async function nextId(query: Sql): Promise<number> {
  const [row] = await query<{ id: number }>(`select ${NEXT_ID} as id`)
  if (!row) throw new Error('The sequence of comments gave no id.')
  return row.id
}
