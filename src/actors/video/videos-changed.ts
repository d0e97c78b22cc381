// Tells every process that answers made of videos are no longer right. Whoever writes by a request is served by the frame of
// HTTP, before the answer (http/plugins/writes.ts); this is for everything else: other servers, jobs, time-outs.

import type { Registry, Unit } from '../runtime/index.ts'

/**
 * The topic: `{ video }`, the id of the one that changed, and lists with it; `{ commentsOf }`, the id of one whose comments alone
 * changed, which its page shows; `{}` when it may be any.
 */
export const VIDEOS_CHANGED = 'videos-changed'

/** Comments of a video appear, change or go: its page is another one as soon as the transaction is committed. */
export const announceComments = (unit: Unit, videoId: number): void => unit.publish(VIDEOS_CHANGED, { commentsOf: videoId })

// Counters have no row: their events come by the thousand, and what is kept is renewed within seconds.
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
