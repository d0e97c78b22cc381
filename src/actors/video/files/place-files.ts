// Keeps the files of a local video in the public or the private folders, as its privacy and its block demand.

import { setTimeout as pause } from 'node:timers/promises'
import { type FileRef, hlsFolder, MediaError, StorageOutage, type Store, webVideoFile } from '../../../media/index.ts'
import type { Columns } from '../../../platform/database/index.ts'
import { randomToken } from '../../../platform/ids.ts'
import { type ActorDeps, DomainError, startHeartbeat, type Unit } from '../../runtime/index.ts'
import type { Video } from '../video.entity.ts'
import { hasPrivateFiles, type Openness } from '../video.policy.ts'
import { type Leases, OF_TRANSCODING } from './pending-files.ts'

const LONGEST_WAIT_MS = 10_000
const LOOK_EVERY_MS = 50
/** A mover without a heartbeat for this long counts as dead. */
const LEASE_MS = 15_000

/** Files on disk go first: moving them is instant, and an outage does not leave them public. */
const PLACES = ['file-system', 'object-storage'] as const

/**
 * One mover at a time, in all processes: a slow one would move files back. A row holds the lease, since a connection would be held for
 * minutes while object storage copies large files.
 */
const CLAIM = `
  insert into video_placement (video_id, owner, lease_until)
  select v.id, $2, now() + $3 * interval '1 ms' from video v
  where v.id = $1 and not v.remote and v.state <> 'removed' for key share
  on conflict (video_id) do update set owner = excluded.owner, lease_until = excluded.lease_until
    where video_placement.lease_until < now() or video_placement.owner = $4
  returning owner`

const HOLDER = `
  select p.owner from video v left join video_placement p on p.video_id = v.id
  where v.id = $1 and not v.remote and v.state <> 'removed'`

const RENEW = `
  update video_placement set lease_until = now() + $3 * interval '1 ms' where video_id = $1 and owner = $2
  returning video_id`

export type PlaceFiles = ReturnType<typeof makePlaceFiles>

export function makePlaceFiles(
  deps: Pick<ActorDeps, 'db' | 'registry'> & {
    store: Pick<Store, 'only'>
    leases: Pick<Leases, 'owner' | 'isGone'>
    /** How long a caller waits. */
    patience?: () => AbortSignal
  },
) {
  const { db, registry, store, leases, patience = () => AbortSignal.timeout(LONGEST_WAIT_MS) } = deps

  /**
   * Moves the files now. Idempotent and safe to run concurrently. Throws `busy` if it takes too long or another process moves them; then
   * the job finishes the move. Throws StorageOutage if some files cannot be reached, after moving the others.
   */
  async function now(videoId: number): Promise<void> {
    const isOver = patience()
    const placing = placeAlone(videoId, isOver, isOver)
    // A copy in progress is allowed to finish, and the mover cleans up after it; the caller does not wait.
    placing.catch(() => undefined)
    await Promise.race([placing, endOf(isOver)])
  }

  async function placeAlone(videoId: number, signal: AbortSignal, wait = patience()): Promise<void> {
    const owner = `${leases.owner}#${randomToken(4)}`
    if (!(await claim(videoId, owner, [signal, wait]))) return
    const beat = startHeartbeat({
      everyMs: LEASE_MS / 3,
      lost: 'Another process took over the move.',
      renew: async () => (await db.query(RENEW, [videoId, owner, LEASE_MS])).length > 0,
    })
    try {
      return await place(videoId, AbortSignal.any([signal, beat.signal]))
    } catch (error) {
      // The last move may have gone in the wrong direction.
      if (signal.aborted || !beat.signal.aborted) throw error
    } finally {
      await beat.stop()
      await db.query('delete from video_placement where video_id = $1 and owner = $2', [videoId, owner])
    }
    await placeAlone(videoId, signal)
  }

  /** Returns false if the video is removed. */
  async function claim(videoId: number, owner: string, signals: readonly AbortSignal[]): Promise<boolean> {
    for (let dead: string | null = null; ; ) {
      const [claimed] = await db.query(CLAIM, [videoId, owner, LEASE_MS, dead])
      if (claimed) return true
      const [holder] = await db.query<{ owner: string | null }>(HOLDER, [videoId])
      if (!holder) return false
      dead = holder.owner !== null && leases.isGone(holder.owner) ? holder.owner : null
      if (signals.some(({ aborted }) => aborted)) throw stillMoving()
      if (!dead) await pause(LOOK_EVERY_MS)
    }
  }

  /** Repeats until the wanted places stay the same: they may change during a long copy. */
  async function place(videoId: number, signal: AbortSignal): Promise<void> {
    for (let before: boolean | undefined; ; ) {
      const video = await find(videoId)
      if (!video || hasPrivateFiles(video) === before) return
      before = hasPrivateFiles(video)
      let outage: StorageOutage | undefined
      for (const where of PLACES) {
        try {
          await placeIn(where, video, signal)
        } catch (error) {
          if (!(error instanceof StorageOutage)) throw error
          outage = error
        }
      }
      if (outage) throw outage
    }
  }

  async function find(videoId: number): Promise<PlacedVideo | undefined> {
    const [video] = await db.query<PlacedVideo>(
      // Previous files stay as long as a transcoding may read them, and are noted in both places, like the files that it writes.
      `select v.id, v.uuid, v.privacy, v.blocked, array(select f.filename from video_file f
         where f.video_id = v.id and f.streaming_playlist_id is null and f.filename is not null
         union select p.name from transcoding t join pending_file p on p.owner = '${OF_TRANSCODING}' || t.id and p.kind = 'web_videos'
           join pending_file h on h.kind = p.kind and h.name = 'private/' || p.name and h.owner = p.owner
         where t.video_id = v.id) as "webVideos"
       from video v where v.id = $1 and not v.remote and v.state <> 'removed'`,
      [videoId],
    )
    return video
  }

  /**
   * File by file, since a job may have stored a new rendition in the right folder already. The empty folder stays: a concurrent move in the
   * other direction may be filling it.
   */
  async function placeIn(where: (typeof PLACES)[number], video: PlacedVideo, signal: AbortSignal): Promise<void> {
    const isPrivate = hasPrivateFiles(video)
    const [from, to] = [hlsFolder(video.uuid, !isPrivate), hlsFolder(video.uuid, isPrivate)]
    const names: string[] = []
    for await (const { name } of store.only(where, from.kind)?.list(from.kind, from.name) ?? []) names.push(name)
    const moves: [FileRef, string][] = [
      ...names.map((name): [FileRef, string] => [{ kind: from.kind, name }, to.name + name.slice(from.name.length)]),
      ...video.webVideos.map((name): [FileRef, string] => [webVideoFile(name, !isPrivate), webVideoFile(name, isPrivate).name]),
    ]
    for (const [ref, target] of moves) {
      if (signal.aborted) throw stillMoving()
      const home = store.only(where, ref.kind)
      if (!home || !(await home.stat(ref))) continue
      if (!(await isStillWanted(video))) return
      await move(home, ref, target)
    }
  }

  async function isStillWanted(video: PlacedVideo): Promise<boolean> {
    const [found] = await db.query<Openness>("select privacy, blocked from video where id = $1 and state <> 'removed'", [video.id])
    return found !== undefined && hasPrivateFiles(found) === hasPrivateFiles(video)
  }

  async function move(home: Pick<Store, 'move' | 'stat'>, from: FileRef, to: string): Promise<void> {
    try {
      await home.move(from, to)
    } catch (error) {
      const isMissing = error instanceof MediaError && error.reason === 'not-found'
      // Another process moved or removed it, unless a store that cannot copy reports it as missing.
      if (!isMissing || (await home.stat(from))) throw error
    }
  }

  registry.job('video-files-placement', {
    queue: 'io',
    run: ({ data, signal }) => placeAlone(Number(data.videoId), signal),
  })

  return {
    now,
    /** Runs in the transaction that changes the privacy or the block. A job moves the files, even if this process dies. */
    ask(unit: Unit, videoId: number): void {
      unit.enqueue({ type: 'video-files-placement', data: { videoId } })
    },
  }
}

interface PlacedVideo extends Openness, Columns<Video, 'id' | 'uuid'> {
  webVideos: string[]
}

const stillMoving = (): DomainError => new DomainError('busy', 'The files of this video are being moved.')

const endOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(stillMoving()), { once: true }))
