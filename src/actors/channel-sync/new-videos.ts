// Which videos of another site are new since it was read last. Pure.

import type { RemoteVideoEntry } from '../../media/index.ts'
import type { StoredSync } from './channel-sync.queries.ts'

type Read = Pick<StoredSync, 'createdAt' | 'lastSyncAt' | 'knownUrls'>

/**
 * The addresses of those that are new. `listed` begins with the newest. By date where there is one, and then by the day, as
 * many sites tell no more. Those without a date are new when they come before all that were known; at the first reading
 * it cannot be said, and none is.
 */
export function newVideos(listed: readonly RemoteVideoEntry[], sync: Read): Set<string> {
  const since = dayOf(sync.lastSyncAt ?? sync.createdAt)
  const known = new Set(sync.knownUrls)
  const firstKnown = listed.findIndex(({ url }) => known.has(url))
  const end = sync.lastSyncAt === null ? 0 : firstKnown === -1 ? listed.length : firstKnown
  const isNew = ({ publishedAt }: RemoteVideoEntry, index: number): boolean => (publishedAt ? dayOf(publishedAt) >= since : index < end)
  return new Set(listed.filter(isNew).map(({ url }) => url))
}

const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10)
