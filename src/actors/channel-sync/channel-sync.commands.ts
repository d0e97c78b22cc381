// Synchronisations: created, started and removed by users, and one-time imports of a whole channel.

import { createHash } from 'node:crypto'
import { type ActorDeps, DomainError, initialColumns, notFound } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { assertMayManageSyncs } from './channel-sync.policy.ts'
import { findImporter, type Importer } from './channel-sync.queries.ts'
import { channelSyncLifecycle, moveSync, withSync } from './channel-sync-state.ts'

type By = NonNullable<Viewer>

export type ChannelSyncs = ReturnType<typeof makeChannelSyncs>

export function makeChannelSyncs(deps: ActorDeps & { checkQuota: (userId: number, bytes: number) => Promise<void> }) {
  const { db, tell, config, clock, registry, checkQuota } = deps
  const settings = () => ({ check_interval: config().vireo.schedulers.channel_sync_check_interval })

  // The content of a removed channel is deleted gradually; this must not add to it.
  registry.on('ChannelRemoved', 'channel-syncs', async ({ channelId }, unit) => {
    await unit.query('delete from channel_sync where channel_id = $1', [channelId])
  })

  async function ownImporter(channelId: number, by: By): Promise<Importer & { userId: number }> {
    const importer = await findImporter(db.query, channelId)
    if (!importer) throw notFound('Video channel not found')
    assertMayManageSyncs(importer, by)
    const { userId } = importer
    if (!importer.active || userId === null) throw notFound('Video channel not found')
    return { ...importer, userId }
  }

  function assertSyncOn(): void {
    if (config().import.video_channel_synchronization.enabled) return
    throw new DomainError('forbidden', 'Channels are not synchronised on this server.')
  }

  function assertImportOn(): void {
    if (config().import.videos.http.enabled) return
    throw new DomainError('forbidden', 'Videos are not imported by URL on this server.')
  }

  /** Throws `not_found`, before any refusal for the caller. */
  async function channelOf(id: number): Promise<number> {
    const [sync] = await db.query<{ channelId: number }>('select channel_id as "channelId" from channel_sync where id = $1', [id])
    if (!sync) throw notFound('Video channel sync not found')
    return sync.channelId
  }

  async function ask(id: number, channelId: number, url?: string): Promise<void> {
    await withSync(deps, id, async (unit, sync) => {
      if (sync.channelId !== channelId) {
        throw new DomainError('forbidden', 'This synchronisation is that of another channel.')
      }
      if (url !== undefined && url !== sync.url) throw otherAddress(url)
      await moveSync(unit, sync, { type: 'ASKED' }, settings())
    })
  }

  return {
    /** Throws `forbidden` if the feature is disabled, and for another user's channel; `not_found`; `invalid` over the limit per user. */
    async create(by: By, { channelId, url }: { channelId: number; url: string }): Promise<{ id: number }> {
      assertSyncOn()
      const owner = await ownImporter(channelId, by)
      const { max_per_user } = config().import.video_channel_synchronization
      return await tell({ aggregate: 'actor', id: owner.accountActorId }, async (unit) => {
        const [row] = await unit.query<{ syncs: number }>(
          'select count(*)::int as syncs from channel_sync s join channel c on c.id = s.channel_id where c.account_id = $1',
          [owner.accountId],
        )
        if ((row?.syncs ?? 0) >= max_per_user) {
          throw new DomainError('invalid', `No user has more than ${max_per_user} synchronisations on this server.`)
        }
        const { state, context, dueAt } = initialColumns(channelSyncLifecycle, unit.now, settings())
        const [made] = await unit.query<{ id: number }>(
          `insert into channel_sync (channel_id, external_channel_url, state, context, due_at, created_at, updated_at)
           select id, $2, $3, $4, $5, $6, $6 from channel where id = $1 and state = 'active' returning id`,
          [channelId, url, state, JSON.stringify(context), dueAt, unit.now],
        )
        if (!made) throw notFound('Video channel not found')
        unit.created({ aggregate: 'channel_sync', id: made.id })
        return made
      })
    },

    /** Imported videos stay. Throws `not_found` and `forbidden`. */
    async remove(id: number, by: By): Promise<void> {
      await withSync(deps, id, async (unit, sync) => {
        const owner = await findImporter(unit.query, sync.channelId)
        if (!owner) throw notFound('Video channel sync not found')
        assertMayManageSyncs(owner, by)
        await unit.query('delete from channel_sync where id = $1', [id])
      })
    },

    /** Starts an import of all videos of the other channel. Throws like `create` and `importAll`. */
    async start(id: number, by: By): Promise<void> {
      const channelId = await channelOf(id)
      assertSyncOn()
      const { userId } = await ownImporter(channelId, by)
      await checkQuota(userId, 1)
      await ask(id, channelId)
    },

    /**
     * The same for a channel of `by`; without `syncId` as a one-time import. Throws `forbidden` if imports are disabled, `not_found`,
     * `invalid` for the address of another synchronisation, `too_large` (`quota_reached`).
     */
    async importAll(by: By, { channelId, url, syncId }: { channelId: number; url: string; syncId?: number | undefined }): Promise<void> {
      if (syncId !== undefined) await channelOf(syncId)
      const { userId } = await ownImporter(channelId, by)
      assertImportOn()
      await checkQuota(userId, 1)
      if (syncId !== undefined) {
        assertSyncOn()
        return await ask(syncId, channelId, url)
      }
      await tell.create(async (unit) =>
        unit.enqueue({
          type: 'video-channel-import',
          data: { externalChannelUrl: url, videoChannelId: channelId },
          dedupeKey: `channel-import-${channelId}-${createHash('sha256').update(url).digest('hex')}`,
        }),
      )
    },

    /** Makes all due now, without waiting for the check interval. */
    async hurry(): Promise<void> {
      await db.query("update channel_sync set due_at = $1 where state <> 'processing' and due_at > $1", [clock.now()])
    },
  }
}

function otherAddress(value: string): DomainError {
  const msg = 'Should be the address of the synchronisation'
  return new DomainError('invalid', msg, {
    invalidParams: [{ name: 'externalChannelUrl', location: 'body', msg, value }],
  })
}
