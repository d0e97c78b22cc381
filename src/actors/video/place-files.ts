// Keeps the files of a local video where its privacy and its block want them: in the public folders, or in the private ones.

import { setTimeout as pause } from 'node:timers/promises'
import { type FileRef, hlsFolder, MediaError, type Store, webVideoFile } from '../../media/index.ts'
import type { Sql } from '../../platform/database/index.ts'
import { type ActorDeps, DomainError, type Unit } from '../runtime/index.ts'
import { OF_TRANSCODING } from './pending-files.ts'
import { hasPrivateFiles } from './video.policy.ts'

export interface PlaceFiles {
  /** In the transaction that changes the privacy or the block: the files follow, also when this process dies. */
  ask(unit: Unit, videoId: number): void
  /**
   * Moves the files now. Done twice, or by two at once, they end where what is stored wants them. Throws `busy` when others move
   * them for long.
   */
  now(videoId: number): Promise<void>
}

/** For whoever moves the same files just now; then it is up to the job. */
const LONGEST_WAIT_MS = 10_000
const LOOK_EVERY_MS = 50

export function makePlaceFiles(
  deps: Pick<ActorDeps, 'db' | 'registry'> & { store: Pick<Store, 'list' | 'stat' | 'move'> },
): PlaceFiles {
  const { db, registry, store } = deps

  /**
   * One after the other, of whichever process: what was read must hold until the last file is moved, or somebody slow would put
   * files back where they were. The transaction writes nothing, it is as long as the lock; whoever waits holds no connection.
   */
  async function now(videoId: number): Promise<void> {
    const giveUpAt = performance.now() + LONGEST_WAIT_MS
    while (!(await placeAlone(videoId))) {
      if (performance.now() > giveUpAt) throw new DomainError('busy', 'The files of this video are being moved.')
      await pause(LOOK_EVERY_MS)
    }
  }

  const placeAlone = (videoId: number): Promise<boolean> =>
    db.transaction(async ({ query }) => {
      const [lock] = await query<{ isOurs: boolean }>(
        `select pg_try_advisory_xact_lock(hashtext('video-files'), $1) as "isOurs"`,
        [videoId],
      )
      if (!lock?.isOurs) return false
      await place(query, videoId)
      return true
    })

  async function place(query: Sql, videoId: number): Promise<void> {
    const [video] = await query<{ uuid: string; privacy: number; blocked: boolean; web_videos: string[] }>(
      // Those of before stay as long as a transcoding may read them, and are noted in both places.
      `select v.uuid, v.privacy, v.blocked, array(select f.filename from video_file f
         where f.video_id = v.id and f.streaming_playlist_id is null and f.filename is not null
         union select p.name from transcoding t join pending_file p on p.owner = '${OF_TRANSCODING}' || t.id and p.kind = 'web_videos'
           join pending_file h on h.kind = p.kind and h.name = 'private/' || p.name and h.owner = p.owner
         where t.video_id = v.id) as web_videos
       from video v where v.id = $1 and not v.remote and v.state <> 'removed'`,
      [videoId],
    )
    if (!video) return
    const isPrivate = hasPrivateFiles(video)
    await moveFolder(hlsFolder(video.uuid, !isPrivate), hlsFolder(video.uuid, isPrivate))
    for (const name of video.web_videos) await move(webVideoFile(name, !isPrivate), webVideoFile(name, isPrivate))
  }

  /**
   * File by file, since a job may already have stored a new rendition in the right folder. The emptied folder stays:
   * somebody who moves the other way may just be filling it.
   */
  async function moveFolder(from: FileRef, to: FileRef): Promise<void> {
    const names: string[] = []
    for await (const { name } of store.list(from.kind, from.name)) names.push(name)
    for (const name of names)
      await move({ kind: from.kind, name }, { kind: to.kind, name: to.name + name.slice(from.name.length) })
  }

  async function move(from: FileRef, to: FileRef): Promise<void> {
    try {
      if (await store.stat(from)) await store.move(from, to.name)
    } catch (error) {
      // Somebody else moved it, or removed the video.
      if (!(error instanceof MediaError && error.reason === 'not-found')) throw error
    }
  }

  registry.job('video-files-placement', { queue: 'io', run: ({ data }) => now(Number(data.videoId)) })

  return {
    now,
    ask: (unit, videoId) => unit.enqueue({ type: 'video-files-placement', data: { videoId } }),
  }
}
