// Notifies the subscribers of a channel about a new video: once, when it is public, in batches, since there may be many of them.

import type { ActorDeps, EventName, Unit } from '../runtime/index.ts'
import { LISTED_PRIVACIES } from '../video/video.entity.ts'
import { noteSubscribersNotified } from '../video/video.writes.ts'
import type { Notify } from './notify.ts'
import type { NotificationSource } from './rule.ts'

/** Events that may make a video visible. */
const SHOWING = ['VideoShown', 'VideoReceived', 'VideoPublished', 'VideoUnblocked'] as const satisfies readonly EventName[]

/** Listed videos without an earlier notification. */
const IS_NEWS = `v.privacy in ${LISTED_PRIVACIES} and v.state = 'published' and not v.blocked`

const SUBSCRIBERS_AT_ONCE = 500
/** Per job, whose time is limited: the next job continues. */
const BATCHES_OF_A_JOB = 50

/** The follows after `$2`, up to `$3`. A remote video may arrive with the history of its channel, which is not news for later followers. */
const newVideo: NotificationSource = {
  type: 'newVideoFromSubscription',
  about: ['video_id'],
  audience: `
    select subscriber.user_id, video.id::text as key, owner.actor_id as by_actor_id, video.id as video_id
    from video join channel on channel.id = video.channel_id join account owner on owner.id = channel.account_id
      join follow on follow.target_id = channel.actor_id and follow.state = 'accepted'
      join account subscriber on subscriber.actor_id = follow.follower_id
    where video.id = $1 and ${IS_NEWS.replaceAll('v.', 'video.')} and follow.id > $2 and follow.id <= $3
      and subscriber.user_id is not null and (not video.remote or follow.created_at <= video.published_at)`,
}

export function notifySubscribers({ db, tell, registry, notify }: Pick<ActorDeps, 'db' | 'tell' | 'registry'> & { notify: Notify }): void {
  for (const event of SHOWING) registry.on(event, 'subscribers', ({ videoId }, unit) => queueNotifications(unit, videoId))

  registry.job('notify', {
    queue: 'io',
    async run({ data, signal }) {
      const videoId = Number(data.videoId)
      let last = Number(data.after ?? 0)
      for (let batch = 1; batch <= BATCHES_OF_A_JOB; batch += 1) {
        signal.throwIfAborted()
        const until = await endOfBatch(videoId, last)
        if (until === null) return
        await tell.create(async (unit) => {
          await notify(unit, newVideo, [videoId, last, until])
          if (batch === BATCHES_OF_A_JOB) goOn(unit, videoId, until)
        })
        last = until
      }
    },
  })

  /** The last follow of the next batch; null at the end. */
  async function endOfBatch(videoId: number, after: number): Promise<number | null> {
    const [batch] = await db.query<{ last: number | null }>(
      `select max(f.id) as last from (
         select follow.id from follow
         where follow.target_id = (select c.actor_id from video v join channel c on c.id = v.channel_id
             where v.id = $1 and ${IS_NEWS})
           and follow.state = 'accepted' and follow.id > $2
         order by follow.id limit ${SUBSCRIBERS_AT_ONCE}
       ) f`,
      [videoId, after],
    )
    return batch?.last ?? null
  }
}

const goOn = (unit: Unit, videoId: number, after: number): void =>
  unit.enqueue({ type: 'notify', data: { videoId, after }, dedupeKey: `notify-${videoId}-${after}` })

async function queueNotifications(unit: Unit, videoId: number): Promise<void> {
  if (await noteSubscribersNotified(unit.query, videoId, IS_NEWS)) unit.enqueue({ type: 'notify', data: { videoId } })
}
