// Comments: written by our users, received from other servers, removed by their author, the video's owner or the staff.
// A removed comment keeps its row, so that the replies below it keep their place.

import type { Sql } from '../../platform/database/index.ts'
import { type AutomaticTags, type CommentTags, tagComment } from '../automatic-tag/index.ts'
import { holdDeletes } from '../incoming-activity/index.ts'
import { type ActorDeps, DomainError, notFound, type PassOn, type Unit } from '../runtime/index.ts'
import { addDelta, announceComments, type Viewer } from '../video/index.ts'
import {
  isHiddenBelow,
  type KnownComment,
  knownAs,
  type Parent,
  parentOf,
  parentWith,
  placeFor,
  unknownParent,
  type VideoRow,
  videoOf,
} from './comment.places.ts'
import { assertMayRemove, assertTakesComments, assertTakesRemoteComments, isHeld, seesHeld } from './comment.policy.ts'
import { buryComment, buryLost, loadComment } from './comment.rows.ts'
import { commentHere, removeKept } from './kept-comments.ts'
import { mentionedNames, storeMentions } from './mentions.ts'
import { toPlainText } from './plain-text.ts'

export interface Comments {
  /**
   * Gives the id. Throws `conflict` when comments are disabled, `not_found` for a video or parent that is unknown or
   * hidden from the author, `invalid` for a parent under another video.
   */
  add(comment: { videoId: number; by: NonNullable<Viewer>; text: string; inReplyTo?: number }): Promise<number>
  /**
   * A comment of another server; telling twice changes nothing. Throws `not_found` for an unknown parent, `conflict`
   * when comments are disabled, `forbidden` for videos that are not public and for the address of another comment,
   * `unprocessable` when no text is left of it, `gone` when the owner of the video removed it before it came, or its
   * author while it was read.
   */
  receiveComment(comment: {
    url: string
    videoId: number
    accountId: number
    parentUrl: string | null
    content: string
    mediaType: string
    createdAt: Date
    /** ActivityPub ids of the actors whom its author mentions. */
    mentions?: readonly string[]
    /** The activity as it came, to be passed on when the comment is approved. */
    activity?: string | null
    /** When its server was asked for it; left out when its author told of it. */
    askedAt?: Date | undefined
    /** When it is new, and shown. */
    passOn?: PassOn
  }): Promise<ReceivedComment>
  /** A removed comment of another server: replies below it need its place. */
  receiveTombstone(stone: { url: string; videoId: number; parentUrl: string | null; createdAt: Date }): Promise<void>
  /** Throws `forbidden`, or `conflict` when it is removed already. */
  remove(commentId: number, by: NonNullable<Viewer>): Promise<void>
  /** Its author removes a comment that went with its video; answers whether there was one. */
  removeKept(commentId: number, by: NonNullable<Viewer>): Promise<boolean>
  /**
   * Another server removed a comment: its author's, or that of the video. It is passed on, and the video answered, when
   * others are to hear of it: not for an unknown comment, one that is removed already, or one that was never shown. Throws
   * `forbidden`.
   */
  removeReceived(comment: { url: string; actorId: number; passOn?: PassOn }): Promise<{ videoId: number } | undefined>
  /** One of another server below a video of ours is gone from there. Throws `not_found`. */
  removeLost(commentId: number): Promise<void>
  /** Its author, of another server, is gone: so is the text. Its place stays, and is nobody's. */
  removeAuthor(commentId: number): Promise<void>
}

/** Only what is new and not held is for others. */
export interface ReceivedComment {
  isNew: boolean
  isHeld: boolean
  /** Without its tags it would be shown. */
  isHeldByTags?: true
  /** Of a new one, by the lists of the instance, when there are any. */
  tags?: readonly string[]
}

/** Characters of a comment at most (contract, fields.videoComment). */
export const MAX_COMMENT_LENGTH = 10_000

export function makeComments(deps: ActorDeps & { automaticTags: AutomaticTags }): Comments {
  const { tell, urls, automaticTags } = deps

  return {
    async add({ videoId, by, text, inReplyTo }) {
      // Some clients show what is written as HTML.
      const html = /[<&]/.test(text) ? toPlainText(text, 'text/html', MAX_COMMENT_LENGTH) : undefined
      const tags = await automaticTags.ofComment({ videoId, text, ...(html === undefined ? {} : { html }) })
      return await tell.create(async (unit) => {
        const video = await videoOf(unit.query, videoId, by.accountId)
        assertTakesComments(video)
        const sees = { accountId: by.accountId, held: seesHeld(video, by) }
        const parent = inReplyTo === undefined ? undefined : await parentOf(unit.query, videoId, inReplyTo, sees)
        const id = await nextId(unit.query)
        const url = urls.comment(video.uuid, id)
        const { accountId } = by
        const stored = await insert(unit, {
          ...{ id, url, videoId, accountId, text, parent, createdAt: unit.now },
          ...{
            held: isHeld(video, by, tags),
            hidden: await isHiddenBelow(unit.query, video, { parent, tags }),
            heldActivity: null,
          },
          tags,
        })
        if (stored === undefined) throw new Error(`${url} is the address of another comment already.`)
        await storeMentions(unit.query, id, { names: mentionedNames(text, urls.host) })
        unit.created({ aggregate: 'comment', id })
        return id
      })
    },

    async receiveComment(comment) {
      const { url, videoId, accountId, parentUrl, content, mediaType, createdAt, activity = null } = comment
      const { mentions = [], passOn } = comment
      const text = toPlainText(content, mediaType, MAX_COMMENT_LENGTH)
      const tags = await automaticTags.ofComment({ videoId, text })
      return await tell.create(async (unit) => {
        await holdDeletes(unit.query, url)
        const { known, video, parent, isDeleted } = await placeFor(unit.query, comment)
        if (known) return received(known, { videoId, accountId })
        if (text === '') throw new DomainError('unprocessable', 'This comment is empty.')
        if (!video) throw notFound('Video not found')
        assertTakesRemoteComments(video)
        if (isDeleted) throw new DomainError('gone', `${url} was removed already.`)
        if (parentUrl !== null && !parent) throw unknownParent()
        const held = isHeld(video, null, { ...video, ...tags })
        // A date in the future would stay on top of the list.
        const at = new Date(Math.min(createdAt.getTime(), unit.now.getTime()))
        const hidden = await isHiddenBelow(unit.query, video, { parent, tags })
        const heldActivity = (held || hidden) && !video.remote ? activity : null
        const id = await insert(unit, {
          ...{ url, videoId, accountId, text, held, hidden, heldActivity, parent, createdAt: at, tags },
        })
        const isNew = id !== undefined
        if (isNew && unit.now.getTime() - at.getTime() < NEWS_MS) {
          await storeMentions(unit.query, id, { urls: mentions })
        }
        if (isNew && !held && !hidden) await passOn?.(unit, videoId)
        if (isNew) return { isNew, isHeld: held, ...toldOf(tags, { held, video }) }
        return received(await knownAs(unit.query, url), { videoId, accountId })
      })
    },

    async receiveTombstone({ url, videoId, parentUrl, createdAt }) {
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

    async remove(commentId, by) {
      await tell({ aggregate: 'comment', id: commentId }, async (unit) => {
        const comment = await loadComment(unit.query, commentId)
        assertMayRemove(comment, by)
        // Ours are removed in the name of their author; those of others on our videos by the owner, who answers for them.
        const byOwner = !comment.isAuthorOurs && comment.isVideoOurs
        await buryComment(
          unit,
          comment,
          byOwner ? comment.ownerActorId : (comment.authorActorId ?? comment.ownerActorId),
        )
      })
    },

    removeKept: async (commentId, { accountId }) => (await removeKept(tell, { accountId, commentId })) > 0,

    async removeReceived({ url, actorId, passOn }) {
      const commentId = await commentHere(deps, url)
      if (commentId === undefined) return undefined
      return await tell({ aggregate: 'comment', id: commentId }, async (unit) => {
        const comment = await loadComment(unit.query, commentId)
        const may = [
          comment.authorActorId,
          ...(comment.isVideoOurs ? [] : [comment.ownerActorId, comment.channelActorId]),
        ]
        if (!may.includes(actorId))
          throw new DomainError('forbidden', 'Only its author and the video’s owner remove a comment.')
        if (comment.state === 'removed') return undefined
        await buryComment(unit, comment, actorId)
        if (comment.state === 'held') return undefined
        await passOn?.(unit, comment.videoId)
        return { videoId: comment.videoId }
      })
    },

    async removeLost(commentId) {
      await tell({ aggregate: 'comment', id: commentId }, async (unit) =>
        buryLost(unit, await loadComment(unit.query, commentId)),
      )
    },

    async removeAuthor(commentId) {
      await tell({ aggregate: 'comment', id: commentId }, async (unit) => {
        await buryLost(unit, await loadComment(unit.query, commentId))
        await unit.query('update comment set account_id = null where id = $1', [commentId])
      })
    },
  }
}

/** Nobody is told of an older comment in which another server mentions them. */
const NEWS_MS = 7 * 24 * 3_600_000

/** Answers its id when it is new: no other comment has its address. */
async function insert(
  unit: Unit,
  comment: {
    /** Drawn anew when left out. */
    id?: number
    url: string
    videoId: number
    accountId: number
    text: string
    held: boolean
    /** What it answers is. */
    hidden: boolean
    heldActivity: string | null
    parent: Parent | undefined
    createdAt: Date
    tags: CommentTags
  },
): Promise<number | undefined> {
  const { id, url, videoId, accountId, text, held, hidden, heldActivity, parent, createdAt } = comment
  const [row] = await unit.query<{ id: number }>(
    `insert into comment (id, url, video_id, account_id, text, held_for_review, held_activity, thread_id, parent_id,
       created_at, updated_at)
     values (coalesce($1, ${NEXT_ID}), $2, $3, $4, $5, $6, $7, $8, $9, $10, $10) on conflict (url_hash) do nothing returning id`,
    [
      id ?? null,
      url,
      videoId,
      accountId,
      text,
      held,
      heldActivity,
      parent?.threadId ?? null,
      parent?.id ?? null,
      createdAt,
    ],
  )
  if (!row) return undefined
  announceComments(unit, videoId)
  await tagComment(unit.query, row.id, comment.tags)
  if (!held && !hidden) await addDelta(unit, videoId, { comments: 1 })
  unit.emit({ aggregate: 'comment', id: row.id }, 'CommentCreated', { commentId: row.id })
  return row.id
}

/** What a comment that is told again comes to. Throws `forbidden` when its address is that of another comment. */
function toldOf(tags: CommentTags, { held, video }: { held: boolean; video: VideoRow }): Partial<ReceivedComment> {
  const names = tags.tags.filter(({ ownerId }) => ownerId === null).map(({ name }) => name)
  return {
    ...(held && !isHeld(video, null, video) ? { isHeldByTags: true } : {}),
    ...(names.length > 0 ? { tags: names } : {}),
  }
}

function received(known: KnownComment | undefined, told: { videoId: number; accountId: number }): ReceivedComment {
  if (known?.videoId === told.videoId && known.accountId === told.accountId) {
    return { isNew: false, isHeld: known.isHeld }
  }
  throw new DomainError('forbidden', 'This address belongs to another comment.')
}

const NEXT_ID = "nextval(pg_get_serial_sequence('comment', 'id'))"

/** Drawn first, because the address of a comment of ours holds it. */
async function nextId(query: Sql): Promise<number> {
  const [row] = await query<{ id: number }>(`select ${NEXT_ID} as id`)
  if (!row) throw new Error('The sequence of comments gave no id.')
  return row.id
}
