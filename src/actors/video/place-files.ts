// Keeps the files of a local video where its privacy and its block want them: in the public folders, or in the private ones.

import { type FileRef, hlsFolder, MediaError, type Store, webVideoFile } from '../../media/index.ts'
import type { Sql } from '../../platform/database/index.ts'
import type { ActorDeps, Unit } from '../runtime/index.ts'
import { hasPrivateFiles } from './video.policy.ts'

export interface PlaceFiles {
  /** In the transaction that changes the privacy or the block: the files follow, also when this process dies. */
  ask(unit: Unit, videoId: number): void
  /** Moves the files now. Done twice, or by two at once, they end where what is stored wants them. */
  now(videoId: number): Promise<void>
}

/** For whoever moves the same files just now; then it is up to the job. */
const LONGEST_WAIT_MS = 10_000

export function makePlaceFiles(
  deps: Pick<ActorDeps, 'db' | 'registry'> & { store: Pick<Store, 'list' | 'stat' | 'move'> },
): PlaceFiles {
  const { db, registry, store } = deps

  /**
   * One after the other, of whichever process: what was read must hold until the last file is moved, or somebody slow would put
   * files back where they were. The transaction writes nothing, it is as long as the lock.
   */
  const now = (videoId: number): Promise<void> =>
    db.transaction(
      async ({ query }) => {
        await query("select pg_advisory_xact_lock(hashtext('video-files'), $1)", [videoId])
        await place(query, videoId)
      },
      { lockTimeoutMs: LONGEST_WAIT_MS },
    )

  async function place(query: Sql, videoId: number): Promise<void> {
    const [video] = await query<{ uuid: string; privacy: number; blocked: boolean; web_videos: string[] }>(
      `select v.uuid, v.privacy, v.blocked, array(select f.filename from video_file f
         where f.video_id = v.id and f.streaming_playlist_id is null and f.filename is not null) as web_videos
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
