// The source and the result of a download.

import type { RemoteMetadata } from './yt-dlp/info.ts'

export type DownloadSource = { kind: 'url'; url: string } | { kind: 'magnet'; uri: string } | { kind: 'torrent'; bytes: Buffer }

export interface DownloadOptions {
  /** Exists, and belongs to this download only; partial results of earlier attempts are resumed. */
  folder: string
  maxBytes: number
  signal: AbortSignal
  /** 0 to 100. */
  onProgress(percent: number): void
  /** Restores a complete file that was moved out of the folder to this path, if possible. */
  bringBack?(path: string): Promise<void>
}

export interface DownloadedVideo {
  /** Path in the folder. */
  path: string
  /** Name given by the other side: never part of a path. */
  fileName: string
  metadata: RemoteMetadata
  picturePath?: string | undefined
  /** In their original formats; read one by one. */
  subtitles?: { language: string; path: string; read(): Promise<Uint8Array> }[]
}
