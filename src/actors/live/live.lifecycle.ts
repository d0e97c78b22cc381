// The lifecycle of a live session, with the meaning of each state for its row.

import { dueIn, initialLiveSession, type LiveSessionSettings, liveSessionMachine } from '../../state-machines/live-session.ts'
import { type ActorDeps, CHECK_OWNER_EVERY, defineLifecycle, type Unit } from '../runtime/index.ts'
import type { LiveSession } from './live.entity.ts'

export const settingsOf = ({ config }: Pick<ActorDeps, 'config'>): LiveSessionSettings => {
  const { no_data_timeout, reconnect_window } = config().vireo.live
  return { no_data_timeout, reconnect_window, check_owner_every: CHECK_OWNER_EVERY }
}

export const liveSessionLifecycle = defineLifecycle({
  table: 'live_session',
  machine: liveSessionMachine,
  initial: initialLiveSession,
  dueIn,
  entered(unit, session: LiveSession, { state }) {
    const isOver = state === 'ending' || state === 'ended'
    if (isOver && session.endedAt === null) session.endedAt = unit.now
    if (state === 'ending') queueEnding(unit, session.id)
  },
})

/** Queues the job that stores the recording, unless it waits or runs. */
const queueEnding = (unit: Unit, id: number): void =>
  unit.enqueue({ type: 'video-live-ending', data: { liveSessionId: id }, dedupeKey: `video-live-ending-${id}` })
