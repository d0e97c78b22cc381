// The job `manage-video-torrent`: updates the torrents of a local video, and the names of its playlist's swarms, from its rows. It can be
// killed and run again; concurrent runs store one torrent per file.

import { buffer } from 'node:stream/consumers'
import { type FileRef, MediaError, makeTorrent, renewTorrent, type Store, type Torrent, type TorrentFacts } from '../../media/index.ts'
import type { Aliased, Sql } from '../../platform/database/index.ts'
import { type ActorDeps, DomainError, type JobContext, PermanentFailure, type Unit } from '../runtime/index.ts'
import type { VideoFile } from '../video/files.entity.ts'
import { nameSwarms, nameTorrents } from '../video/files.writes.ts'
import { isFederated, type Leases, type PendingFiles, queueTorrents } from '../video/index.ts'
import { touchVideo } from '../video/video.writes.ts'
import {
  factsOf,
  magnetUriOf,
  newTorrentRef,
  outdatedOf,
  placesOf,
  swarmsOf,
  type TorrentFile,
  type TorrentVideo,
  torrentRef,
} from './expected-torrents.ts'

export type TorrentDeps = ActorDeps & {
  store: Store
  pendingFiles: PendingFiles
  leases: Pick<Leases, 'owner'>
}

/** How often the video may change during the job before it fails. */
const TRIES = 5
/** The largest torrent that is updated: that of a file of some hundred terabytes. */
const MAX_TORRENT_BYTES = 32 * 1024 ** 2
const LOOK_EVERY_MS = 600_000
/** Files per run. */
const BATCH = 1000

interface StoredVideo extends TorrentVideo {
  state: string
}

/** A stored torrent that no row names yet. */
interface Made {
  file: TorrentFile
  ref: FileRef
  infoHash: string
  /** Its content. */
  facts: TorrentFacts
}

const VIDEO = `
  select v.uuid, v.name, v.privacy, v.blocked, v.state, p.playlist_filename as master,
    coalesce(p.storage = 1, false) and not exists (select from video_file o
      where o.streaming_playlist_id = p.id and o.storage <> 1) as "atBucket",
    p.p2p_media_loader_info_hashes as swarms,
    coalesce((select json_agg(json_build_object('id', f.id, 'filename', f.filename,
        'isHls', f.streaming_playlist_id is not null, 'resolution', f.resolution, 'extname', f.extname, 'size', f.size,
        'created', extract(epoch from f.created_at), 'torrent', f.torrent_filename, 'infoHash', f.info_hash,
        'magnet', f.magnet_url) order by f.resolution desc, f.id)
      from video_file f where f.video_id = v.id and f.filename is not null and not f.outdated), '[]') as files
  from video v left join streaming_playlist p on p.video_id = v.id
  where v.id = $1 and not v.remote and not v.is_live and v.state <> 'removed'`

/** Registers the job, and the periodic search for files without a torrent: older ones, or after a failed job. */
export function makeTorrents(deps: TorrentDeps): void {
  const { db, tell, registry, config, logger, store, pendingFiles, leases, urls } = deps
  const { origin } = urls

  registry.job('manage-video-torrent', { queue: 'media', run: (job) => run(job) })

  async function run({ data, signal, progress }: JobContext): Promise<void> {
    const videoId = Number(data.videoId)
    // From an earlier round, so that no file is read twice.
    const known = new Map<number, Torrent>()
    for (let tries = 1; config().tracker.enabled; tries += 1) {
      const video = await find(db.query, videoId)
      if (!video) return
      const made: Made[] = []
      const reserved: FileRef[] = []
      try {
        for (const file of outdatedOf(video, origin)) {
          const torrent = await torrentOf(video, file, { known: known.get(file.id), signal, progress })
          if (!torrent) continue
          known.set(file.id, torrent)
          made.push({ file, ...(await storeTorrent(file, torrent, reserved)), facts: factsOf(video, file, origin) })
        }
        if (await keep(videoId, made)) return
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'not_found') return
        throw error
      } finally {
        // Stored files have no note any more, even if the response of the transaction was lost.
        pendingFiles.giveUp(reserved)
        await pendingFiles.collect()
      }
      if (tries === TRIES) throw new PermanentFailure('The video changes again and again.')
    }
  }

  /** From existing torrents, or by reading the file; undefined if that is missing or incomplete. */
  async function torrentOf(
    video: TorrentVideo,
    file: TorrentFile,
    { known, signal, progress }: Pick<JobContext, 'signal' | 'progress'> & { known: Torrent | undefined },
  ): Promise<Torrent | undefined> {
    const facts = factsOf(video, file, origin)
    const earlier = known?.bytes ?? (await earlierTorrent(file))
    const renewed = earlier && (await renewTorrent(earlier, facts))
    if (renewed) return renewed
    // A file that is moved during the search ends up in the first folder.
    const [place, other] = placesOf(video, file)
    for (const ref of [place, other, place]) {
      if (!ref || !(await store.stat(ref))) continue
      try {
        const { stream } = await store.open(ref)
        return await makeTorrent(stream, facts, { signal, onProgress: progress })
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof MediaError && error.reason === 'not-found')) throw error
      }
    }
    logger.warn({ video: video.uuid, file: file.id }, 'a file has no torrent: it is not where it should be')
    return undefined
  }

  async function earlierTorrent({ torrent }: TorrentFile): Promise<Uint8Array | undefined> {
    if (torrent === null) return undefined
    const ref = torrentRef(torrent)
    const stat = await store.stat(ref)
    if (!stat || stat.size > MAX_TORRENT_BYTES) return undefined
    try {
      return await buffer((await store.open(ref)).stream)
    } catch (error) {
      if (error instanceof MediaError && error.reason === 'not-found') return undefined
      throw error
    }
  }

  async function storeTorrent(file: TorrentFile, { bytes, infoHash }: Torrent, reserved: FileRef[]) {
    const ref = newTorrentRef(file)
    reserved.push(ref)
    await pendingFiles.reserve(leases.owner, [ref])
    await store.put(ref, bytes)
    return { ref, infoHash }
  }

  /** Stores the rows, and announces changes. Returns false if the video changed meanwhile. */
  function keep(videoId: number, made: readonly Made[]): Promise<boolean> {
    return tell({ aggregate: 'video', id: videoId }, async (unit) => {
      const video = await find(unit.query, videoId)
      if (!video) {
        await pendingFiles.condemn(unit.query, refsOf(made))
        return true
      }
      if (!made.every((one) => isOf(video, one))) return false
      const hasTorrents = await storeRows(unit, video, made)
      const hasSwarms = await storeSwarms(unit, videoId, video)
      if ((hasTorrents || hasSwarms) && video.state === 'published' && isFederated(video.privacy)) {
        await touchVideo(unit, videoId)
        unit.emit({ aggregate: 'video', id: videoId }, 'VideoUpdated', { videoId })
      }
      return true
    })
  }

  /** True if the torrent matches the current file. */
  function isOf(video: TorrentVideo, { file, facts }: Made): boolean {
    const current = video.files.find(({ id }) => id === file.id)
    if (!current || current.torrent !== file.torrent) return false
    return JSON.stringify(factsOf(video, current, origin)) === JSON.stringify(facts)
  }

  async function storeRows(unit: Unit, video: TorrentVideo, made: readonly Made[]): Promise<boolean> {
    if (made.length === 0) return false
    const rows = made.map(({ file, ref, infoHash }) => {
      const torrent = { filename: ref.name, infoHash }
      return { id: file.id, ...torrent, magnet: magnetUriOf(video, file, torrent, origin) }
    })
    await nameTorrents(unit, rows)
    await pendingFiles.settle(unit.query, refsOf(made))
    const replaced = made.flatMap(({ file: { torrent } }) => (torrent === null ? [] : [torrentRef(torrent)]))
    await pendingFiles.condemn(unit.query, replaced)
    return true
  }

  async function storeSwarms(unit: Unit, videoId: number, video: TorrentVideo): Promise<boolean> {
    const swarms = swarmsOf(video, urls)
    if (video.swarms === null || swarms.join() === video.swarms.join()) return false
    await nameSwarms(unit, videoId, swarms)
    return true
  }

  let looked = 0
  registry.periodic('video-torrents', {
    everyMs: () => LOOK_EVERY_MS,
    async run() {
      if (!config().tracker.enabled) return
      // The magnet URI contains this server's address, which may have changed.
      const files = await db.query<Aliased<typeof VideoFile, 'id' | 'videoId'> & { isRight: boolean }>(
        `select id, video_id as "videoId",
           coalesce(torrent_filename is not null and strpos(magnet_url, $2) > 0, false) as "isRight"
         from video_file where filename is not null and id > $1 order by id limit ${BATCH}`,
        [looked, encodeURIComponent(`${origin}/`)],
      )
      looked = files.length === BATCH ? (files.at(-1)?.id ?? 0) : 0
      const wrong = new Set(files.filter(({ isRight }) => !isRight).map(({ videoId }) => videoId))
      if (wrong.size === 0) return
      await tell.create(async (unit) => {
        for (const videoId of wrong) queueTorrents(unit, videoId, config())
      })
    },
  })
}

const refsOf = (made: readonly Made[]): FileRef[] => made.map(({ ref }) => ref)

const find = async (query: Sql, videoId: number): Promise<StoredVideo | undefined> => (await query<StoredVideo>(VIDEO, [videoId]))[0]
