// Keeps the files of a local video where its privacy and its block want them: in the public folders, or in the private ones.

import { type FileRef, hlsFolder, MediaError, type Store, webVideoFile } from '../../media/index.ts'
import type { ActorDeps, Unit } from '../runtime/index.ts'
import { hasPrivateFiles } from './video.policy.ts'

export interface PlaceFiles {
  /** In the transaction that changes the privacy or the block: the files follow, also when this process dies. */
  ask(unit: Unit, videoId: number): void
  /** Moves the files now. Done twice, or by two at once, they end where what is stored wants them. */
  now(videoId: number): Promise<void>
}

export function makePlaceFiles(deps: Pick<ActorDeps, 'db' | 'registry'> & { store: Store }): PlaceFiles {
  const { db, registry, store } = deps

  async function now(videoId: number): Promise<void> {
    let placed: boolean | undefined
    while (true) {
      const [video] = await db.query<{ uuid: string; privacy: number; blocked: boolean; web_videos: string[] }>(
        `select v.uuid, v.privacy, v.blocked, array(select f.filename from video_file f
           where f.video_id = v.id and f.streaming_playlist_id is null and f.filename is not null) as web_videos
         from video v where v.id = $1 and not v.remote and v.state <> 'removed'`,
        [videoId],
      )
      // Whoever changed the privacy meanwhile may have moved what we then moved back: look until it stays.
      if (!video || hasPrivateFiles(video) === placed) return
      placed = hasPrivateFiles(video)
      await moveFolder(hlsFolder(video.uuid, !placed), hlsFolder(video.uuid, placed))
      for (const name of video.web_videos) await move(webVideoFile(name, !placed), webVideoFile(name, placed))
    }
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
