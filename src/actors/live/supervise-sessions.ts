// What sessions need beside their receivers: time-outs, the job at their end, and the moves of their videos.

import { hlsFile, pieceName, swarmsOfPlaylist } from '../../media/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import type { VideoEvent } from '../../state-machines/video.ts'
import { type ActorDeps, takes, type Unit } from '../runtime/index.ts'
import { nameSwarms, storePlaylist } from '../video/files.writes.ts'
import { advanceAndAnnounce, fileStorages, hasPrivateFiles, type PendingFiles, videoLifecycle } from '../video/index.ts'
import { FEDERATED_PRIVACIES, Video } from '../video/video.entity.ts'
import { type LiveSession, VideoLive } from './live.entity.ts'
import { liveSessionLifecycle, moveSession, settingsOf, withSession } from './live.lifecycle.ts'
import { shownRenditions } from './live-playlists.ts'

export function superviseLiveSessions(
  deps: Pick<ActorDeps, 'tell' | 'registry' | 'config' | 'urls'> & { pendingFiles: PendingFiles },
): void {
  const { registry, urls } = deps

  registry.timeout('live-session', {
    of: liveSessionLifecycle,
    timedOut: (id) =>
      withSession(deps, id, async (unit, session) => {
        if (!session.dueAt || session.dueAt > unit.now) return
        const { state } = moveSession(unit, session, { type: 'TIMED_OUT' }, settingsOf(deps))
        if (state === 'cleaned') await removePieces(unit, session, deps)
      }),
  })

  registry.on('LiveStarted', 'live-video', ({ videoId }, unit) =>
    moveVideo(unit, videoId, async (video) => {
      const [{ plan } = { plan: null }] = await unit.query<Columns<LiveSession, 'plan'>>(
        'select plan from live_session where video_id = $1 order by started_at desc, id desc limit 1',
        [videoId],
      )
      await storePlaylist(unit, videoId, PLAYLIST, fileStorages.fileSystem)
      const { name } = hlsFile(video.uuid, PLAYLIST.masterFilename, hasPrivateFiles(video))
      await nameSwarms(unit, videoId, swarmsOfPlaylist(`${urls.origin}/static/streaming-playlists/${name}`, shownRenditions(plan).length))
      return { type: 'STREAM_STARTED' }
    }),
  )
  registry.on('LiveEnded', 'live-video', ({ videoId }, unit) =>
    moveVideo(unit, videoId, async (_, { permanentLive }) => ({ type: 'STREAM_ENDED', again: permanentLive })),
  )
}

async function removePieces(unit: Unit, { id, videoId }: LiveSession, { pendingFiles }: { pendingFiles: PendingFiles }): Promise<void> {
  // With those that a process stored without a row: renditions, and numbers that no row of the session has. A block, or its end, moves the
  // files of a live.
  const pieces = await unit.query<{ uuid: string; rendition: number; sequence: number; isPrivate: boolean }>(
    `select distinct v.uuid, p.rendition, p.sequence, place.is_private as "isPrivate" from video v cross join lateral (
       select 0 as rendition, sequence, is_private from live_piece where session_id = $1
       union all
       select e.rendition, p.sequence, p.is_private
       from live_session s cross join jsonb_to_recordset(s.plan->'encoded') as e (rendition int) join live_piece p on p.session_id = s.id
       where s.id = $1 and s.remote is null
       union all
       select 0, n, is_private
       from live_session s cross join (values (true), (false)) as place (is_private) cross join generate_series(
         s.first_sequence, greatest(s.reserved, (select max(sequence) + 1 from live_piece where session_id = s.id))
       ) as n
       where s.id = $1 and s.reserved is not null and not exists (select from live_piece where session_id = $1 and sequence = n)
       union all
       select rendition, sequence, is_private from live_remote_piece where session_id = $1
     ) p cross join lateral (values (p.is_private), (v.blocked or v.privacy not in ${FEDERATED_PRIVACIES})) as place (is_private)
     where v.id = $2`,
    [id, videoId],
  )
  await unit.query('delete from live_rendition_piece where session_id = $1', [id])
  // The number of the last one stays: the next session counts on.
  await unit.query(
    'delete from live_piece where session_id = $1 and sequence < (select max(sequence) from live_piece where session_id = $1)',
    [id],
  )
  await unit.query(
    'delete from live_remote_piece where session_id = $1 and sequence < (select max(sequence) from live_remote_piece where session_id = $1)',
    [id],
  )
  await pendingFiles.condemn(
    unit.query,
    pieces.map(({ uuid, rendition, sequence, isPrivate }) => hlsFile(uuid, pieceName(rendition, sequence), isPrivate)),
  )
}

/** Rendered from rows by every process, whatever the storage of the pieces. */
const PLAYLIST = { masterFilename: 'master.m3u8', hashesFilename: 'segments-sha256.json' }

async function moveVideo(unit: Unit, videoId: number, eventFor: (video: Video, live: VideoLive) => Promise<VideoEvent>): Promise<void> {
  await unit.query('select id from video where id = $1 for no key update', [videoId])
  const [video, live] = [await unit.em.findOne(Video, videoId), await unit.em.findOne(VideoLive, { videoId })]
  // A replay took its place already, or it is a remote live, which has no key: its server reports its state.
  if (!video?.isLive || !live?.streamKey) return
  const event = await eventFor(video, live)
  if (takes(videoLifecycle, video, event)) advanceAndAnnounce(unit, video, [event])
}
