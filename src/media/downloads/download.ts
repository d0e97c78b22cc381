// What is downloaded, and what a download gives.

import type { RemoteMetadata } from './yt-dlp/info.ts'

export type DownloadSource = { kind: 'url'; url: string } | { kind: 'magnet'; uri: string } | { kind: 'torrent'; bytes: Buffer }

export interface DownloadOptions {
  /** Exists, and belongs to this download alone; what an earlier try left there is gone on with. */
  folder: string
  maxBytes: number
  signal: AbortSignal
  /** 0 to 100. */
  onProgress(percent: number): void
  /** Puts a file that was whole, and was taken out of the folder since, to this path again, if it can be had. */
  bringBack?(path: string): Promise<void>
}

export interface DownloadedVideo {
  /** In the folder. */
  path: string
  /** What the other side calls it: never part of a path. */
  fileName: string
  metadata: RemoteMetadata
  picturePath?: string | undefined
  /** In whichever format they came; read one by one. */
  subtitles?: { language: string; path: string; read(): Promise<Uint8Array> }[]
}
