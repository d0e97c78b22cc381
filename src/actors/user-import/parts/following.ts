// Follows of the user: requested again, from local and remote channels.

import { blockedHosts } from '../../blocklist/index.ts'
import { findChannelByHandle } from '../../channel/index.ts'
import type { PartImporter } from '../part-importer.ts'
import type { Deps } from './deps.ts'
import { readHandle } from './handles.ts'

export function makeFollowingImporter(deps: Deps): PartImporter<'following'> {
  const { db, subscriptions, urls } = deps
  return {
    part: 'following',
    async importItem({ targetHandle }, { accountId }) {
      const handle = readHandle(targetHandle, deps)
      if (!handle) return { error: 'invalid' }
      const isOurs = handle.host === urls.host
      const channel = { name: handle.name, host: isOurs ? null : handle.host }
      // The follow would wait forever without anybody noticing.
      if (isOurs && !(await findChannelByHandle(db, channel))) return { error: 'not_found' }
      if (!isOurs && (await blockedHosts(db.query, [handle.host])).includes(true)) return { error: 'forbidden' }
      const [isKnown] = await subscriptions.exist(accountId, [channel])
      if (isKnown) return 'duplicate'
      await subscriptions.subscribe(accountId, channel)
      return 'success'
    },
  }
}
