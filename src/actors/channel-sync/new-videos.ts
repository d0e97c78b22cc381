// Finds new videos of another site since the last round. Pure.

import type { RemoteVideoEntry } from '../../media/index.ts'
import type { StoredSync } from './channel-sync.queries.ts'

type Read = Pick<StoredSync, 'createdAt' | 'lastSyncAt' | 'knownUrls'>

/**
 * The addresses of new videos. `listed` begins with the newest. Videos with a date are compared by day, as many sites report no more. Those
 * without a date are new if they precede all known ones; on the first round none of them is.
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
