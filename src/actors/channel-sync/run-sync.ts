// The rounds of synchronisations: a job reads the channel of the other site and queues an import for each new video; when all these imports
// have ended, another job records the result. Both may run twice: existing videos are not queued again.

import type { Downloads, RemoteVideoEntry, Store } from '../../media/index.ts'
import { randomToken } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'
import { type ActorDeps, DomainError, ignoreNotFound, type JobContext, PermanentFailure } from '../runtime/index.ts'
import { type Leases, type PendingFiles, workFolder } from '../video/index.ts'
import { findImportedUrls, type VideoImports } from '../video-import/index.ts'
import { findImporter, importsOfRound, loadSync, type StoredSync, triesOf } from './channel-sync.queries.ts'
import { channelSyncLifecycle, moveSync, queueEnd, queueListing, withSync } from './channel-sync-state.ts'
import { newVideos } from './new-videos.ts'

export type ChannelSyncDeps = ActorDeps & {
  store: Pick<Store, 'workFolder'>
  pendingFiles: Pick<PendingFiles, 'reserve' | 'discard'>
  leases: Pick<Leases, 'owner'>
  downloads: Pick<Downloads, 'listRemoteVideos'>
  videoImports: Pick<VideoImports, 'request'>
}

/** Attempts per video by automatic rounds. */
const MAX_TRIES = 3

interface Round {
  channelId: number
  url: string
  /** Undefined for a one-time import. */
  sync: StoredSync | undefined
}

interface Reading extends Round {
  /** Undefined if all videos are wanted. */
  isNew: Set<string> | undefined
}

/** Registers the two jobs and the check interval. */
export function runChannelSyncs(deps: ChannelSyncDeps): void {
  const { db, config, registry, logger, clock, downloads, videoImports, store, pendingFiles, leases } = deps
  const keys = () => config().import.video_channel_synchronization
  const settings = () => ({ check_interval: config().vireo.schedulers.channel_sync_check_interval })

  registry.timeout('channel_sync', {
    of: channelSyncLifecycle,
    timedOut: (id) =>
      withSync(deps, id, async (unit, sync) => {
        const [row] = await unit.query<{ due: Date | null }>('select due_at as due from channel_sync where id = $1', [id])
        if (!row?.due || row.due > unit.now) return
        const importer = await findImporter(unit.query, sync.channelId)
        const allowed = keys().enabled && (importer?.active ?? false)
        await moveSync(unit, sync, { type: 'TIMED_OUT', allowed }, settings())
        if (sync.state !== 'processing') return
        if (!sync.context.listed) queueListing(unit, sync)
        else if ((await importsOfRound(unit.query, id)).open === 0) queueEnd(unit, sync)
      }),
  })

  registry.job('video-channel-import', {
    queue: 'io',
    run: importChannel,
    failed: async ({ data }, error) => {
      const id = syncIdOf(data)
      if (id !== undefined) await ignoreNotFound(fail(id, error))
    },
    standsAlone: (data) => syncIdOf(data) === undefined,
  })

  registry.job('after-video-channel-import', {
    queue: 'io',
    run: ({ data }) =>
      ignoreNotFound(
        withSync(deps, Number(data.channelSyncId), async (unit, sync) => {
          if (sync.state !== 'processing' || !sync.context.listed) return
          const { open, failed } = await importsOfRound(unit.query, sync.id)
          if (open === 0) await moveSync(unit, sync, { type: 'FINISHED', failed }, settings())
        }),
      ),
  })

  async function fail(id: number, error: string): Promise<void> {
    await withSync(deps, id, async (unit, sync) => {
      if (sync.state === 'processing') await moveSync(unit, sync, { type: 'FAILED', error }, settings())
    })
  }

  async function importChannel({ id, data, signal }: JobContext): Promise<void> {
    const round = await roundOf(data)
    if (!round) return
    await refuseSecondImporter(id, round.channelId)
    const log = logger.child({ channel: round.channelId, sync: round.sync?.id })
    const begun = clock.now()
    const isNewest = round.sync?.context.extent === 'newest'
    const limit = isNewest ? keys().videos_limit_per_synchronization : keys().full_sync_videos_limit
    const listed = (await list(round.url, limit, signal)).slice(0, limit)
    const isNew = isNewest && round.sync ? newVideos(listed, round.sync) : undefined
    // Oldest first, so that they are imported in the order of their publication.
    const refused = await requestAll({ ...round, isNew }, listed.toReversed(), signal, log)
    log.info({ listed: listed.length, refused }, 'channel read')
    if (!round.sync) return
    await ignoreNotFound(
      withSync(deps, round.sync.id, async (unit, sync) => {
        if (sync.state !== 'processing') return
        const undated = listed.filter(({ publishedAt }) => !publishedAt).map(({ url }) => url)
        await unit.query('update channel_sync set last_sync_at = $2, known_urls = $3 where id = $1', [sync.id, begun, undated])
        await moveSync(unit, sync, { type: 'LISTED', refused }, settings())
        if ((await importsOfRound(unit.query, sync.id)).open === 0) queueEnd(unit, sync)
      }),
    )
  }

  async function list(url: string, limit: number, signal: AbortSignal): Promise<RemoteVideoEntry[]> {
    const work = workFolder('channel', randomToken(16))
    await pendingFiles.reserve(leases.owner, [work])
    try {
      return await downloads.listRemoteVideos({ url, limit, signal, folder: await store.workFolder(work.name) })
    } finally {
      await pendingFiles.discard([work])
    }
  }

  /** Undefined if there is nothing to do: the synchronisation was removed, or its round has ended. */
  async function roundOf(data: JobContext['data']): Promise<Round | undefined> {
    const id = syncIdOf(data)
    if (id === undefined) {
      return { channelId: Number(data.videoChannelId), url: String(data.externalChannelUrl), sync: undefined }
    }
    const sync = await loadSync(db.query, id)
    if (sync?.state !== 'processing' || sync.context.listed) return undefined
    return { channelId: sync.channelId, url: sync.url, sync }
  }

  /** Two concurrent jobs of one channel could import the same videos. The later one waits. */
  async function refuseSecondImporter(jobId: number, channelId: number): Promise<void> {
    const others = await db.query(
      `select 1 from job o join job me on me.id = $1
       where o.type = 'video-channel-import' and o.state = 'active' and o.id <> me.id
         and (o.data->>'videoChannelId')::int = $2 and (o.started_at, o.id) < (me.started_at, me.id) limit 1`,
      [jobId, channelId],
    )
    if (others.length > 0) throw new DomainError('busy', 'Another import into this channel is under way.')
  }

  /** Returns how many could not be queued. Throws if the rest cannot be queued either. */
  async function requestAll(round: Reading, videos: RemoteVideoEntry[], signal: AbortSignal, log: Logger): Promise<number> {
    const { channelId, sync } = round
    let refused = 0
    for (const { url } of videos) {
      signal.throwIfAborted()
      const userId = await importerNow(round)
      if (userId === undefined) return refused
      if (!(await isWanted(round, url))) continue
      try {
        const fields = { privacy: config().defaults.publish.privacy }
        await videoImports.request({ userId, channelId, targetUrl: url, channelSyncId: sync?.id, fields })
      } catch (error) {
        if (!(error instanceof DomainError) || error.kind === 'busy' || error.kind === 'unavailable') throw error
        if (error.code === 'quota_reached') throw new PermanentFailure(error.message, { cause: error })
        log.warn({ err: error }, 'a video of another site is not imported')
        refused += 1
      }
    }
    return refused
  }

  /** Failed imports are retried by later rounds, cancelled ones only if all videos are requested. */
  async function isWanted({ channelId, isNew }: Reading, url: string): Promise<boolean> {
    if ((await findImportedUrls(db, { channelId, targetUrls: [url] })).has(url)) return false
    if (!isNew) return true
    const { failed, ended } = await triesOf(db.query, channelId, url)
    return ended === 0 && failed < MAX_TRIES && (failed > 0 || isNew.has(url))
  }

  /** The importing user; undefined if the synchronisation was removed. Throws if the user may not import any more. */
  async function importerNow({ channelId, sync }: Round): Promise<number | undefined> {
    if (sync && !(await loadSync(db.query, sync.id))) return undefined
    const importer = await findImporter(db.query, channelId)
    const isOn = config().import.videos.http.enabled && (sync === undefined || keys().enabled)
    if (isOn && importer?.active && importer.userId !== null) return importer.userId
    throw new PermanentFailure('Imports into this channel are not allowed any more.')
  }
}

const syncIdOf = ({ partOfChannelSyncId }: JobContext['data']): number | undefined =>
  partOfChannelSyncId === undefined ? undefined : Number(partOfChannelSyncId)
