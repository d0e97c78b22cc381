// Notifies all processes that cached responses about videos are stale. Writes by requests are handled in HTTP before the response
// (http/plugins/writes.ts); this covers the rest: other servers, jobs, timeouts.

import type { JsonValue } from '../../platform/bus/index.ts'
import type { Registry, Unit } from '../runtime/index.ts'

/** The topic. */
export const VIDEOS_CHANGED = 'videos-changed'

/**
 * A message of the topic. `video`: this video and the lists changed. `comments`: only its comments, which its page shows. `counts`: only its
 * counters; lists show them within seconds. `any`: any video may have changed.
 */
export type VideosChange = { what: 'video' | 'comments' | 'counts'; videoId: number } | { what: 'any' }

export function readVideosChange(payload: JsonValue): VideosChange {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return { what: 'any' }
  const { what, videoId } = payload
  const isKnown = (what === 'video' || what === 'comments' || what === 'counts') && typeof videoId === 'number'
  return isKnown ? { what, videoId } : { what: 'any' }
}

export const announceVideo = (unit: Unit, videoId: number): void => unit.publish(VIDEOS_CHANGED, { what: 'video', videoId })

/** A user changed a counter of a video, and sees it at once. */
export const announceCounts = (unit: Unit, videoId: number): void => unit.publish(VIDEOS_CHANGED, { what: 'counts', videoId })

/** Comments of a video were added, changed or removed: its page is stale as soon as the transaction is committed. */
export const announceComments = (unit: Unit, videoId: number): void => unit.publish(VIDEOS_CHANGED, { what: 'comments', videoId })

// Counters are missing: their events come by the thousand, and cached responses expire within seconds.
const OF_ONE = ['VideoPublished', 'VideoUpdated', 'VideoBlocked', 'VideoUnblocked', 'VideoRemoved'] as const
const OF_MANY = [
  'ActorUpdated',
  'ChannelRemoved',
  'ChannelEmptied',
  'UserRemoved',
  'AccountRemoved',
  'RedundancyStored',
  'RedundancyRenewed',
  'RedundancyRemoved',
] as const

export function announceVideoChanges(registry: Registry): void {
  for (const event of OF_ONE) {
    registry.on(event, 'answers', async ({ videoId }, unit) => announceVideo(unit, videoId))
  }
  for (const event of OF_MANY) {
    registry.on(event, 'answers', async (_payload: object, unit: Unit) => unit.publish(VIDEOS_CHANGED, {}))
  }
  // Mutes of users hide nothing from visitors.
  for (const [event, table] of [
    ['AccountBlocked', 'account_block'],
    ['ServerBlocked', 'server_block'],
  ] as const) {
    registry.on(event, 'answers', async ({ blockId }, unit) => {
      const [block] = await unit.query(`select 1 from ${table} where id = $1 and owner_id is null`, [blockId])
      if (block) unit.publish(VIDEOS_CHANGED, {})
    })
  }
}
