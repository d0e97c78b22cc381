// Notifies all processes that cached responses about videos are stale. Writes by requests are handled in HTTP before the response
// (http/plugins/writes.ts); this covers the rest: other servers, jobs, timeouts.

import type { Registry, Unit } from '../runtime/index.ts'

/**
 * The topic. `{ video }`: this video and the lists changed. `{ commentsOf }`: only the comments of this video, which its page shows. `{}`:
 * any video may have changed.
 */
export const VIDEOS_CHANGED = 'videos-changed'

/** Comments of a video were added, changed or removed: its page is stale as soon as the transaction is committed. */
export const announceComments = (unit: Unit, videoId: number): void => unit.publish(VIDEOS_CHANGED, { commentsOf: videoId })

// Counters are missing: their events come by the thousand, and cached responses expire within seconds.
const OF_ONE = ['VideoPublished', 'VideoUpdated', 'VideoBlocked', 'VideoUnblocked', 'VideoRemoved'] as const
const OF_MANY = [
  'ActorUpdated',
  'ChannelRemoved',
  'ChannelEmptied',
  'UserRemoved',
  'AccountRemoved',
  'AccountBlocked',
  'ServerBlocked',
  'RedundancyStored',
  'RedundancyRenewed',
  'RedundancyRemoved',
] as const

export function announceVideoChanges(registry: Registry): void {
  for (const event of OF_ONE) {
    registry.on(event, 'answers', async ({ videoId }, unit) => unit.publish(VIDEOS_CHANGED, { video: videoId }))
  }
  for (const event of OF_MANY) {
    registry.on(event, 'answers', async (_payload: object, unit: Unit) => unit.publish(VIDEOS_CHANGED, {}))
  }
}
