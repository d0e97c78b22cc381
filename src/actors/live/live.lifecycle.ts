// The lifecycle of a live session, with the meaning of each state for its row.

import {
  dueIn,
  initialLiveSession,
  type LiveSessionEvent,
  type LiveSessionSettings,
  liveSessionMachine,
} from '../../state-machines/live-session.ts'
import { type ActorDeps, advance, CHECK_OWNER_EVERY, defineLifecycle, type Unit } from '../runtime/index.ts'
import { LiveSession } from './live.entity.ts'

const RETRY_REPLAY_AFTER = 24 * 3_600_000

export const settingsOf = ({ config }: Pick<ActorDeps, 'config'>): LiveSessionSettings => {
  const { no_data_timeout, reconnect_window, cleanup_delay } = config().vireo.live
  return { no_data_timeout, reconnect_window, cleanup_delay, check_owner_every: CHECK_OWNER_EVERY, retry_replay_after: RETRY_REPLAY_AFTER }
}

export const liveSessionLifecycle = defineLifecycle({
  table: 'live_session',
  machine: liveSessionMachine,
  initial: initialLiveSession,
  dueIn,
  entered(unit, session: LiveSession, { from, state }) {
    const video = { aggregate: 'video', id: session.videoId } as const
    // Of a runner, the renditions are not there yet.
    if (from === 'receiving' && state === 'publishing' && !session.remote) unit.emit(video, 'LiveStarted', { videoId: session.videoId })
    if (from !== 'ending' && state === 'ending') unit.emit(video, 'LiveEnded', { videoId: session.videoId })
    if ((state === 'ending' || state === 'ended') && session.endedAt === null) session.endedAt = unit.now
    if (state === 'ending') queueEnding(unit, session.id)
  },
})

export const moveSession = (unit: Unit, session: LiveSession, event: LiveSessionEvent, settings: LiveSessionSettings) =>
  advance(unit, liveSessionLifecycle, session, event, settings)

export const withSession = <T>(
  { tell }: Pick<ActorDeps, 'tell'>,
  id: number,
  work: (unit: Unit, session: LiveSession) => Promise<T>,
): Promise<T> => tell({ aggregate: 'live_session', id }, async (unit) => work(unit, await unit.em.findOneOrFail(LiveSession, id)))

/** Queues the job that stores the recording, unless it waits or runs. */
const queueEnding = (unit: Unit, id: number): void =>
  unit.enqueue({ type: 'video-live-ending', data: { liveSessionId: id }, dedupeKey: `video-live-ending-${id}` })
