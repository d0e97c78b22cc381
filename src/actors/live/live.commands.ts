// Lives: created and changed by their owners. Their streams are in live-session.commands.ts.

import type { Config } from '../../config/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { type AutomaticTags, tagVideo } from '../automatic-tag/index.ts'
import { type ActorDeps, DomainError, notFound, type Unit } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import {
  type AwaitedVideos,
  announceChange,
  assertMayChange,
  type CreatedVideo,
  type CreateVideo,
  findVideoAccess,
  type GivenPictures,
  type NewVideoFields,
  namedAs,
} from '../video/index.ts'
import { Video } from '../video/video.entity.ts'
import { type LatencyMode, latencyModes, VideoLive } from './live.entity.ts'

export interface LiveSettings {
  saveReplay: boolean
  /** Privacy of replays; null for that of the live. */
  replayPrivacy: number | null
  /** True for a live that waits for its next stream when one ends. */
  permanentLive: boolean
  latencyMode: LatencyMode
}

export interface NewLive {
  userId: number
  fields: NewVideoFields
  pictures: GivenPictures
  settings: LiveSettings
}

export type Lives = ReturnType<typeof makeLives>

export function makeLives(deps: ActorDeps & { awaitedVideos: AwaitedVideos; createVideo: CreateVideo; automaticTags: AutomaticTags }) {
  const { db, tell, config, awaitedVideos, createVideo, automaticTags } = deps

  async function assertRoom(unit: Unit, userId: number): Promise<void> {
    const { max_instance_lives, max_user_lives } = config().live
    const [lives] = await unit.query<{ all: number; own: number }>(
      `select count(*)::int as all, count(*) filter (where a.user_id = $1)::int as own
       from video v join channel c on c.id = v.channel_id join account a on a.id = c.account_id
       where v.is_live and not v.remote and v.state in ('waiting-for-live', 'published')`,
      [userId],
    )
    const { all = 0, own = 0 } = lives ?? {}
    if (max_instance_lives !== -1 && all >= max_instance_lives) {
      throw new DomainError('forbidden', 'This server has as many lives as it allows.', { code: 'max_instance_lives_limit_reached' })
    }
    if (max_user_lives !== -1 && own >= max_user_lives) {
      throw new DomainError('forbidden', 'You have as many lives as this server allows.', { code: 'max_user_lives_limit_reached' })
    }
  }

  return {
    /**
     * Creates a live that waits for its stream. Throws `forbidden` if lives (`live_not_enabled`), replays (`live_not_allowing_replay`) or
     * the latency are not allowed, or if there are too many lives (`max_instance_lives_limit_reached`, `max_user_lives_limit_reached`), and
     * `invalid` unless the user owns the channel.
     */
    async create({ userId, fields, pictures: given, settings }: NewLive): Promise<CreatedVideo> {
      assertAllowed(config().live, settings)
      await createVideo.checkChannel(userId, fields.channelId)
      const tags = await automaticTags.ofVideo(fields)
      const pictures = await awaitedVideos.placePictures(given)
      try {
        return await tell.create(async (unit) => {
          await assertRoom(unit, userId)
          const created = await awaitedVideos.create(unit, { userId, source: 'live', fields, pictures: pictures.map(namedAs) })
          unit.created({ aggregate: 'video', id: created.id })
          if (tags.length > 0) await tagVideo(unit.query, created.id, tags)
          unit.em.create(VideoLive, {
            ...settings,
            replayPrivacy: settings.saveReplay ? (settings.replayPrivacy ?? fields.privacy) : null,
            videoId: created.id,
            streamKey: newUuid(),
            createdAt: unit.now,
            updatedAt: unit.now,
          })
          return created
        })
      } catch (error) {
        await awaitedVideos.discardPictures(pictures)
        throw error
      }
    },

    /**
     * Omitted settings stay. Throws `not_found`, `forbidden` (another user's live, or like `create`), and `invalid` if the stream has
     * started or ended.
     */
    async update(videoId: number, by: NonNullable<Viewer>, changes: Partial<LiveSettings>): Promise<void> {
      const video = await findVideoAccess(db, { id: videoId })
      if (!video) throw notFound('Video not found')
      assertMayChange(video, by, 'UPDATE_ANY_VIDEO')
      await tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const live = await unit.em.findOne(VideoLive, { videoId })
        if (!live) throw notFound('Live video not found')
        const row = await unit.em.findOneOrFail(Video, videoId)
        if (row.state !== 'waiting-for-live') throw new DomainError('invalid', 'Cannot update a live that has already started')
        const settings = { ...live, ...changes }
        assertAllowed(config().live, { ...settings, saveReplay: changes.saveReplay ?? false, latencyMode: changes.latencyMode ?? 1 })
        Object.assign(live, changes, { updatedAt: unit.now })
        live.replayPrivacy = settings.saveReplay ? (settings.replayPrivacy ?? video.privacy) : null
        announceChange(unit, row)
      })
    },
  }
}

function assertAllowed(live: Config['live'], { saveReplay, latencyMode }: Pick<LiveSettings, 'saveReplay' | 'latencyMode'>): void {
  if (!live.enabled) throw new DomainError('forbidden', 'Live is not enabled on this instance', { code: 'live_not_enabled' })
  if (saveReplay && !live.allow_replay) {
    throw new DomainError('forbidden', 'This server does not save replays of lives.', { code: 'live_not_allowing_replay' })
  }
  if (latencyMode !== latencyModes.default && !live.latency_setting.enabled) {
    throw new DomainError('forbidden', 'This server does not let streamers choose the latency.')
  }
}
