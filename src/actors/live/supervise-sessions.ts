// What sessions need beside their receivers: time-outs, the job at their end, and the moves of their videos.

import type { VideoEvent } from '../../state-machines/video.ts'
import { type ActorDeps, takes, type Unit } from '../runtime/index.ts'
import { storePlaylist } from '../video/files.writes.ts'
import { advanceAndAnnounce, fileStorages, videoLifecycle } from '../video/index.ts'
import { Video } from '../video/video.entity.ts'
import { VideoLive } from './live.entity.ts'
import { liveSessionLifecycle, moveSession, settingsOf, withSession } from './live.lifecycle.ts'

export function superviseLiveSessions(deps: Pick<ActorDeps, 'tell' | 'registry' | 'config'>): void {
  const { registry } = deps

  registry.timeout('live-session', {
    of: liveSessionLifecycle,
    timedOut: (id) =>
      withSession(deps, id, async (unit, session) => {
        if (session.dueAt && session.dueAt <= unit.now) moveSession(unit, session, { type: 'TIMED_OUT' }, settingsOf(deps))
      }),
  })

  registry.job('video-live-ending', {
    queue: 'media',
    run: ({ data }) =>
      withSession(deps, Number(data.liveSessionId), async (unit, session) => {
        if (session.state === 'ending') moveSession(unit, session, { type: 'SAVED' }, settingsOf(deps))
      }),
  })

  registry.on('LiveStarted', 'live-video', ({ videoId }, unit) =>
    moveVideo(unit, videoId, async () => {
      await storePlaylist(unit, videoId, PLAYLIST, fileStorages.fileSystem)
      return { type: 'STREAM_STARTED' }
    }),
  )
  registry.on('LiveEnded', 'live-video', ({ videoId }, unit) =>
    moveVideo(unit, videoId, async ({ permanentLive }) => ({ type: 'STREAM_ENDED', again: permanentLive })),
  )
}

/** Rendered from rows by every process, whatever the storage of the pieces. */
const PLAYLIST = { masterFilename: 'master.m3u8', hashesFilename: 'segments-sha256.json' }

async function moveVideo(unit: Unit, videoId: number, eventFor: (live: VideoLive) => Promise<VideoEvent>): Promise<void> {
  await unit.query('select id from video where id = $1 for no key update', [videoId])
  const [video, live] = [await unit.em.findOne(Video, videoId), await unit.em.findOne(VideoLive, { videoId })]
  if (!video || !live) return
  const event = await eventFor(live)
  if (takes(videoLifecycle, video, event)) advanceAndAnnounce(unit, video, [event])
}
