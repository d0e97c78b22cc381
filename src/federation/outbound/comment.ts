// Comments of local users, sent to the video's server and everybody in the thread; on local videos also to followers. For remote comments
// on local videos: reviews, sent to their authors.

import { findActorById } from '../../actors/actor/index.ts'
import { dropPendingActivity, isHiddenFromAll, showsComments } from '../../actors/comment/index.ts'
import { enqueueDocument, inboxOf, type Recipient } from '../../actors/delivery/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import { type FederatedVideo, findFederatedVideo, listFederatedVideos } from '../../actors/video/index.ts'
import type { FederationDeps } from '../deps.ts'
import { approvalOf, commentDocument, createCommentActivity, namedIn, publicAudience } from '../documents/index.ts'
import { buildDelete, buildReplyApproval, type JsonObject, readActivity } from '../wire/index.ts'
import { audienceOf, isAnnounced } from './audience.ts'
import { announceToGroups, withoutGroups } from './groups.ts'
import type { Sender } from './sender.ts'

interface CommentActors {
  id: number
  url: string
  /** The parent comment or video. */
  inReplyTo: string
  video: FederatedVideo
  authorId: number
  authorUrl: string
  isAuthorLocal: boolean
  /** Null for a local actor, and for a deleted one. */
  authorInbox: string | null
  authorHostId: number | null
  /** Hidden from everybody: it or an ancestor is pending review, or its author is muted by the instance. */
  hidden: boolean
  /** True unless comments are disabled. */
  isCommented: boolean
}

export function sendComments(deps: FederationDeps & { instanceActorId: () => Promise<number> }, sender: Sender): void {
  const { registry, urls, config, instanceActorId } = deps
  const { send, sendAll } = sender

  registry.onSeveral('CommentCreated', 'federation', async (payloads, unit) => {
    const comments = await load(
      unit,
      payloads.map(({ commentId }) => commentId),
    )
    const announced = comments.filter((comment) => comment.isCommented && isAnnounced(comment.video, config()))
    await approve(
      unit,
      announced.filter(({ isAuthorLocal, hidden }) => !isAuthorLocal && !hidden),
    )
    for (const comment of announced) if (comment.isAuthorLocal) await create(unit, comment)
  })

  for (const event of ['CommentApproved', 'CommentShown'] as const) {
    registry.on(event, 'federation', async ({ commentId }, unit) => {
      const [comment] = await load(unit, [commentId])
      if (!comment?.isCommented || !isAnnounced(comment.video, config())) return
      if (comment.isAuthorLocal) return await create(unit, comment)
      if (comment.hidden) return
      await approve(unit, [comment])
      await passOn(unit, comment)
    })
  }

  registry.on('CommentRefused', 'federation', async ({ commentId, url, actorId, videoId, parentUrl }, unit) => {
    const video = await findFederatedVideo(unit.query, videoId)
    const [author] = await unit.query<{ id: number }>(
      'select a.actor_id as id from comment m join account a on a.id = m.account_id where m.id = $1',
      [commentId],
    )
    if (!author || !video || !isAnnounced(video, config())) return
    const here = urls.comment(video.uuid, commentId)
    const activity = buildReplyApproval({
      id: urls.commentRefusal(here),
      actor: video.accountUrl,
      isApproved: false,
      comment: url,
      inReplyTo: parentUrl,
    })
    const recipients = await inboxOf(unit.query, author.id, { personal: true })
    await send(unit, { activity, senderId: video.accountActorId, recipients })
    // PeerTube 6.3 does not know RejectReply, but accepts a Delete by the owner of the video.
    await remove(unit, { id: urls.deleteOf(here), url, actorId, actorUrl: video.accountUrl }, [
      ...(await inboxOf(unit.query, author.id, { personal: false })),
    ])
  })

  registry.on('CommentRemoved', 'federation', async ({ commentId, url, actorId, videoId }, unit) => {
    const actor = await findActorById(unit.query, actorId)
    const video = await findFederatedVideo(unit.query, videoId)
    // A block must not prevent a removal elsewhere.
    if (!actor?.isLocal || !video || !isAnnounced({ ...video, blocked: false }, config())) return
    // A local comment has a local address; a remote one is named by its place below the local video.
    const id = urls.deleteOf(urls.isLocal(url) ? url : urls.comment(video.uuid, commentId))
    const readers = await readersOf(unit, video)
    const activity = await remove(unit, { id, url, actorId, actorUrl: actor.url }, [
      ...(await spokenTo(unit, commentId, urls.host)),
      ...(!video.remote ? await withoutGroups(unit.query, readers) : readers),
    ])
    await announceToGroups(deps, sender, unit, { videoId, activity })
  })

  registry.on('KeptCommentRemoved', 'federation', async ({ url, actorId, channelActorId }, unit) => {
    const author = await findActorById(unit.query, actorId)
    if (!author) return
    const recipients = await inboxOf(unit.query, channelActorId, { personal: false })
    await remove(unit, { id: urls.deleteOf(url), url, actorId, actorUrl: author.url }, recipients)
  })

  /** To the server of the video; unless it has to approve it first, to the mentioned actors and the thread as well. */
  async function create(unit: Unit, comment: CommentActors): Promise<void> {
    if (comment.hidden && !comment.video.remote) return
    const found = await commentDocument(unit.query, urls, comment.id)
    const activity = found && createCommentActivity(urls, found, found.audience)
    if (!activity) return
    const others = comment.hidden ? [] : await spokenTo(unit, comment.id, urls.host)
    const followers = await readersOf(unit, comment.video)
    const readers = comment.video.remote ? followers : await withoutGroups(unit.query, followers)
    await send(unit, { activity, senderId: comment.authorId, recipients: [...others, ...readers] })
    await announceToGroups(deps, sender, unit, { videoId: comment.video.id, activity })
  }

  /** Notifies the servers of the authors that the comments are visible below local videos. */
  async function approve(unit: Unit, comments: readonly CommentActors[]): Promise<void> {
    const messages = comments
      .filter(({ video }) => !video.remote)
      .map((comment) => ({
        activity: approvalOf(urls, {
          ...comment,
          commentId: comment.id,
          videoUuid: comment.video.uuid,
          ownerUrl: comment.video.accountUrl,
        }),
        senderId: comment.video.accountActorId,
        recipients:
          comment.authorInbox === null || comment.authorHostId === null
            ? []
            : [{ inboxUrl: comment.authorInbox, hostId: comment.authorHostId }],
      }))
    await sendAll(unit, messages)
  }

  /** Forwards the author's activity to everybody who would have received it at once without a review. */
  async function passOn(unit: Unit, comment: CommentActors): Promise<void> {
    const [held] = await unit.query<{ body: string | null; hostId: number }>(
      `select m.held_activity as body, x.host_id as "hostId" from comment m join account a on a.id = m.account_id
         join actor x on x.id = a.actor_id where m.id = $1`,
      [comment.id],
    )
    await dropPendingActivity(unit.query, comment.id)
    const read = held?.body ? readActivity(JSON.parse(held.body)) : undefined
    if (!held?.body || !read?.ok || comment.video.remote) return
    const readers = await withoutGroups(unit.query, await readersOf(unit, comment.video))
    await announceToGroups(deps, sender, unit, {
      videoId: comment.video.id,
      activity: JSON.parse(held.body),
      except: held.hostId,
    })
    await enqueueDocument(
      unit,
      { activityId: read.value.id, type: read.value.type, body: held.body, senderId: comment.video.accountActorId },
      readers.filter((reader) => reader.hostId !== held.hostId),
    )
  }

  async function remove(
    unit: Unit,
    removal: { id: string; url: string; actorId: number; actorUrl: string },
    recipients: Recipient[],
  ): Promise<JsonObject> {
    const { id, url, actorId, actorUrl } = removal
    const activity = buildDelete({ id, actor: actorUrl, target: url, ...publicAudience(urls, actorUrl) })
    await send(unit, { activity, senderId: actorId, recipients })
    return activity
  }

  /** The server of the video; for a local video, all its followers. */
  async function readersOf(unit: Unit, video: FederatedVideo): Promise<Recipient[]> {
    if (video.remote) return await inboxOf(unit.query, video.accountActorId, { personal: false })
    const actors = [video.accountActorId, video.channelActorId, await instanceActorId()]
    return await audienceOf(unit.query, actors, video.id)
  }
}

/** Remote actors to notify: the author, the authors of the ancestors, and mentioned actors. */
const spokenTo = (unit: Unit, commentId: number, host: string): Promise<Recipient[]> =>
  unit.query<Recipient>(
    `with recursive above as (
       select id, parent_id, account_id from comment where id = $1
       union all select c.id, c.parent_id, c.account_id from comment c join above on c.id = above.parent_id
     )
     select distinct coalesce(x.shared_inbox_url, x.inbox_url) as "inboxUrl", x.host_id as "hostId"
     from (select a.actor_id as id from above join account a on a.id = above.account_id
           union select named.id from comment m, lateral (${namedIn('m.text', '$2')}) named where m.id = $1) said
       join actor x on x.id = said.id
     where x.host_id is not null and x.deleted_at is null`,
    [commentId, host.toLowerCase()],
  )

/** In the order of their ids, without removed ones. */
async function load({ query }: Unit, commentIds: readonly number[]): Promise<CommentActors[]> {
  const comments = await query<Omit<CommentActors, 'video'> & { videoId: number }>(
    `select m.id, m.url, coalesce(p.url, v.url) as "inReplyTo", m.video_id as "videoId", x.id as "authorId", x.url as "authorUrl",
       x.host_id is null as "isAuthorLocal", x.host_id as "authorHostId",
       case when x.deleted_at is null and x.host_id is not null then x.inbox_url end as "authorInbox",
       ${showsComments('v')} as "isCommented", ${isHiddenFromAll('m.id')} as hidden
     from comment m join account a on a.id = m.account_id join actor x on x.id = a.actor_id join video v on v.id = m.video_id
       left join comment p on p.id = m.parent_id
     where m.id = any((select $1::int[])::int[]) and m.deleted_at is null order by m.id`,
    [commentIds],
  )
  const videos = await listFederatedVideos(query, [...new Set(comments.map(({ videoId }) => videoId))])
  const byId = new Map(videos.map((video) => [video.id, video]))
  return comments.flatMap(({ videoId, ...comment }) => {
    const video = byId.get(videoId)
    return video ? [{ ...comment, video }] : []
  })
}
