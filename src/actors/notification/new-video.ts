// Notifies the subscribers of a channel about a new video, once, and about each stream of a live: when it is public, in batches, since there
// may be many of them.

import type { ActorDeps, EventName, Unit } from '../runtime/index.ts'
import { LISTED_PRIVACIES } from '../video/video.entity.ts'
import { noteSubscribersNotified } from '../video/video.writes.ts'
import type { Notify } from './notify.ts'
import type { NotificationSource } from './rule.ts'
import type { NotificationType } from './types.ts'

/** Events that may make a video visible, or start a live. */
const SHOWING = ['VideoShown', 'VideoReceived', 'VideoPublished', 'VideoUnblocked', 'LiveStarted'] as const satisfies readonly EventName[]

/** Listed videos. */
const IS_NEWS = `v.privacy in ${LISTED_PRIVACIES} and v.state = 'published' and not v.blocked`

const SUBSCRIBERS_AT_ONCE = 500
/** Per job, whose time is limited: the next job continues. */
const BATCHES_OF_A_JOB = 50

/** The follows after `$2`, up to `$3`. A remote video may arrive with the history of its channel, which is not news for later followers. */
const newVideo = (type: NotificationType, { key, isLive }: { key: string; isLive: boolean }): NotificationSource => ({
  type,
  about: ['video_id'],
  audience: `
    select subscriber.user_id, ${key} as key, owner.actor_id as by_actor_id, video.id as video_id
    from video join channel on channel.id = video.channel_id join account owner on owner.id = channel.account_id
      join follow on follow.target_id = channel.actor_id and follow.state = 'accepted'
      join account subscriber on subscriber.actor_id = follow.follower_id
    where video.id = $1 and ${IS_NEWS.replaceAll('v.', 'video.')} and ${isLive ? '' : 'not '}video.is_live and follow.id > $2 and follow.id <= $3
      and subscriber.user_id is not null and (not video.remote or follow.created_at <= video.published_at)`,
})

const SOURCES = {
  video: newVideo('newVideoFromSubscription', { key: 'video.id::text', isLive: false }),
  // Each stream is published anew.
  live: newVideo('newLiveFromSubscription', { key: "video.id || ' ' || extract(epoch from video.published_at)", isLive: true }),
}

export function notifySubscribers({ db, tell, registry, notify }: Pick<ActorDeps, 'db' | 'tell' | 'registry'> & { notify: Notify }): void {
  for (const event of SHOWING) registry.on(event, 'subscribers', ({ videoId }, unit) => queueNotifications(unit, videoId))

  registry.job('notify', {
    queue: 'io',
    async run({ data, signal }) {
      const videoId = Number(data.videoId)
      const about = data.about === 'live' ? 'live' : 'video'
      let last = Number(data.after ?? 0)
      for (let batch = 1; batch <= BATCHES_OF_A_JOB; batch += 1) {
        signal.throwIfAborted()
        const until = await endOfBatch(videoId, last)
        if (until === null) return
        await tell.create(async (unit) => {
          await notify(unit, SOURCES[about], [videoId, last, until])
          if (batch === BATCHES_OF_A_JOB) goOn(unit, { videoId, about, after: until })
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

const goOn = (unit: Unit, data: { videoId: number; about: keyof typeof SOURCES; after: number }): void =>
  unit.enqueue({ type: 'notify', data, dedupeKey: `notify-${data.videoId}-${data.after}` })

async function queueNotifications(unit: Unit, videoId: number): Promise<void> {
  const news = await noteSubscribersNotified(unit.query, videoId, IS_NEWS)
  if (!news) return
  const { isLive, publishedAt } = news
  // Several events come with the start of one stream.
  const dedupe = isLive ? { dedupeKey: `notify-${videoId}-live-${publishedAt.getTime()}` } : {}
  unit.enqueue({ type: 'notify', data: { videoId, about: isLive ? 'live' : 'video' }, ...dedupe })
}
