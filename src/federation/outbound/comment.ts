// Comments of our users, told to the video's server and to everybody in the thread; on our videos also to followers.

import { inboxOf, type Recipient } from '../../actors/delivery/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import type { FederationDeps } from '../deps.ts'
import { commentDocument, createCommentActivity, publicAudience } from '../documents/index.ts'
import { buildDelete } from '../wire/index.ts'
import { audienceOf, isTold } from './audience.ts'
import type { Sender } from './sender.ts'

interface CommentActors {
  videoId: number
  isVideoOurs: boolean
  videoOwnerId: number
  videoOwnerUrl: string
  videoChannelId: number
  authorId: number
  authorUrl: string
  isAuthorOurs: boolean
  held: boolean
  videoPrivacy: number
  videoState: string
}

export function sendComments(
  deps: FederationDeps & { instanceActorId: () => Promise<number> },
  { send }: Sender,
): void {
  const { registry, urls, config, instanceActorId } = deps

  registry.on('CommentCreated', 'federation', async ({ commentId }, unit) => {
    const comment = await load(unit, commentId)
    if (!comment?.isAuthorOurs || comment.held || !mayBeTold(comment)) return
    const found = await commentDocument(unit.query, urls, commentId)
    const activity = found && createCommentActivity(urls, found)
    if (!activity) return
    const recipients = [...(await thread(unit, commentId)), ...(await readersOf(unit, comment))]
    await send(unit, { activity, senderId: comment.authorId, recipients })
  })

  registry.on('CommentRemoved', 'federation', async ({ url, actorId, videoId }, unit) => {
    const [actor] = await unit.query<{ url: string; isOurs: boolean }>(
      'select url, host_id is null as "isOurs" from actor where id = $1',
      [actorId],
    )
    const video = await videoActors(unit, videoId)
    if (!actor?.isOurs || !video || !mayBeTold(video)) return
    const activity = buildDelete({
      id: urls.deleteOf(url),
      actor: actor.url,
      target: url,
      ...publicAudience(urls, actor.url),
    })
    await send(unit, { activity, senderId: actorId, recipients: await readersOf(unit, { ...video, videoId }) })
  })

  /** What is said below a video is for those who may see the video. */
  const mayBeTold = (video: { videoPrivacy: number; videoState: string }): boolean =>
    isTold({ privacy: video.videoPrivacy, state: video.videoState }, config())

  /** The server of the video; for a video of ours, everybody who follows it. */
  async function readersOf(
    unit: Unit,
    video: Pick<CommentActors, 'videoId' | 'isVideoOurs' | 'videoOwnerId' | 'videoChannelId'>,
  ): Promise<Recipient[]> {
    if (!video.isVideoOurs) return await inboxOf(unit.query, video.videoOwnerId, { personal: false })
    const actors = [video.videoOwnerId, video.videoChannelId, await instanceActorId()]
    return await audienceOf(unit.query, actors, video.videoId)
  }
}

/** Remote authors of the comments above. */
const thread = (unit: Unit, commentId: number): Promise<Recipient[]> =>
  unit.query<Recipient>(
    `with recursive above as (
       select id, parent_id, account_id from comment where id = $1
       union all select c.id, c.parent_id, c.account_id from comment c join above on c.id = above.parent_id
     )
     select distinct coalesce(x.shared_inbox_url, x.inbox_url) as "inboxUrl", x.host_id as "hostId"
     from above join account a on a.id = above.account_id join actor x on x.id = a.actor_id
     where above.id <> $1 and x.host_id is not null`,
    [commentId],
  )

const VIDEO_ACTORS = `v.privacy as "videoPrivacy", v.state as "videoState", not v.remote as "isVideoOurs", oa.id as "videoOwnerId", oa.url as "videoOwnerUrl", ca.id as "videoChannelId"`
const VIDEO_JOINS = `join channel c on c.id = v.channel_id join actor ca on ca.id = c.actor_id
  join account o on o.id = c.account_id join actor oa on oa.id = o.actor_id`

async function load(unit: Unit, commentId: number): Promise<CommentActors | undefined> {
  const [row] = await unit.query<CommentActors>(
    `select m.video_id as "videoId", ${VIDEO_ACTORS}, x.id as "authorId", x.url as "authorUrl",
       x.host_id is null as "isAuthorOurs", m.held_for_review as held
     from comment m join account a on a.id = m.account_id join actor x on x.id = a.actor_id
       join video v on v.id = m.video_id ${VIDEO_JOINS}
     where m.id = $1 and m.deleted_at is null`,
    [commentId],
  )
  return row
}

async function videoActors(unit: Unit, videoId: number): Promise<Omit<CommentActors, 'authorId'> | undefined> {
  const [row] = await unit.query<Omit<CommentActors, 'authorId'>>(
    `select ${VIDEO_ACTORS} from video v ${VIDEO_JOINS} where v.id = $1`,
    [videoId],
  )
  return row
}
