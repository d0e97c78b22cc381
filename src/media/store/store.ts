// The interface that file system and object storage share. Names are relative, with `/` between segments, such as
// `hls/private/<uuid>/<uuid>-720.m3u8`.

import { Readable, type Writable } from 'node:stream'
import { MediaError } from '../errors.ts'

/** The storage keys of the configuration, where `uploads` are the resumable uploads in progress (`tmp_persistent`). */
export const fileKinds = [
  'original_video_files',
  'web_videos',
  'streaming_playlists',
  'thumbnails',
  'previews',
  'avatars',
  'captions',
  'storyboards',
  'torrents',
  'redundancy',
  'user_exports',
  'uploads',
  'tmp',
] as const

export type FileKind = (typeof fileKinds)[number]

export interface FileRef {
  kind: FileKind
  name: string
}

export interface FileStat {
  name: string
  /** Bytes. */
  size: number
  modifiedAt: Date
  /** A strong entity tag with its quotes, as the ETag header carries it. */
  etag: string
}

/** Possible places of bytes. */
export const places = ['file-system', 'object-storage'] as const
export type Place = (typeof places)[number]

/** First and last byte, both included, as in a Range header. */
export interface ByteRange {
  start: number
  end: number
}

/** Headers of a download. */
export interface SavedAs {
  /** Content-Disposition. */
  disposition: string
  /** Content-Type. */
  type: string
}

export interface OpenedFile {
  stat: FileStat
  /** The requested bytes. The reader must consume or destroy it. */
  stream: Readable
  /** Writes the bytes into a response instead of `stream`, if that is cheaper, without ending it. Throws if the reader leaves. */
  sendTo?(target: Writable): Promise<void>
}

/** Appends to an upload. Bytes up to the result of `sync` are on disk and may be acknowledged. */
export interface Appender {
  /** Bytes written so far, from the start of the file. */
  readonly size: number
  write(chunk: Uint8Array): Promise<void>
  /** Flushes to the disk and returns the durable size. */
  sync(): Promise<number>
  /** Closes without flushing; idempotent. */
  close(): Promise<void>
}

export interface LocalFile {
  path: string
  /** Copy it; otherwise it is moved. */
  keep?: boolean
}

export type Source = Readable | Uint8Array | LocalFile

export const isLocalFile = (from: Source): from is LocalFile => !(from instanceof Readable) && !(from instanceof Uint8Array)

export interface Store {
  /**
   * Stores a file atomically, replacing one of the same name. `from` is a stream, bytes, or the path of a local file, which is moved unless
   * `keep` is set.
   */
  put(ref: FileRef, from: Source): Promise<FileStat>
  /**
   * Throws MediaError `not-found`. A range beyond the end is cut to the end. The signal applies at least until the file is open; throws
   * MediaError `aborted`.
   */
  open(ref: FileRef, range?: ByteRange, signal?: AbortSignal): Promise<OpenedFile>
  stat(ref: FileRef): Promise<FileStat | undefined>
  /** Removes a file; ignores a missing one. */
  remove(ref: FileRef): Promise<void>
  /** Removes a folder and its content; ignores a missing one. */
  removeFolder(ref: FileRef): Promise<void>
  /** The files under a folder (all of the kind without one), with full names, unordered. */
  list(kind: FileKind, folder?: string): AsyncIterable<FileStat>
  /** Renames a file inside its kind, for example between public and private. Idempotent. */
  move(ref: FileRef, to: string): Promise<void>
  /** Stores the same bytes under another name as well, of this kind or another. Idempotent. */
  copy(ref: FileRef, to: FileRef): Promise<void>
  /** Renames a folder inside its kind. Idempotent. */
  moveFolder(ref: FileRef, to: string): Promise<void>
  /** Calls `fn` with a path for local tools. It is valid until `fn` settles. The signal applies until then; throws MediaError `aborted`. */
  withLocalPath<T>(ref: FileRef, fn: (path: string) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Opens an upload for writing at `offset`; bytes after it are cut off. Throws MediaError `offset` if the file is shorter. */
  openAppend(name: string, offset: number): Promise<Appender>
  /** A new or existing folder under `tmp` for the work of one job. */
  workFolder(name: string): Promise<string>
  removeWorkFolder(name: string): Promise<void>
  /** Names of the folders directly under `tmp`. */
  workFolders(): Promise<string[]>
  /** Bytes on the disk for files of the kind: free for this process, and in total. Undefined for a kind in object storage. */
  room(kind: FileKind): Promise<{ free: number; total: number } | undefined>
  /** Current place of the file. */
  placeOf(ref: FileRef): Promise<Place | undefined>
  /** Public address of the file without this server; undefined if it is private, or on disk. */
  publicAddress(ref: FileRef): Promise<string | undefined>
  /** The same for a private file, valid for a short time; undefined if this server has to send it. */
  signedAddress(ref: FileRef): Promise<string | undefined>
  /**
   * The same for any file, with these response headers; undefined if this server has to send it, also if the bucket's public address is
   * another one.
   */
  downloadAddress(ref: FileRef, saved: SavedAs): Promise<string | undefined>
  /** Only the files of the kind in that place; undefined if this server has none there. */
  only(place: Place, kind: FileKind): Store | undefined
}

/** Throws MediaError `aborted` if the bytes are no longer needed. */
export function assertAwaited(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new MediaError('aborted', 'The file is no longer needed.')
}

const MAX_SEGMENT = 200
const MAX_NAME = 600

/** Throws MediaError `invalid-name` unless every segment is a plain visible file name. */
export function assertName(name: string): void {
  const refuse = (): never => {
    throw new MediaError('invalid-name', 'The name of the file is not allowed.')
  }
  if (name.length === 0 || name.length > MAX_NAME) refuse()
  for (const segment of name.split('/')) {
    if (segment.length === 0 || segment.length > MAX_SEGMENT) refuse()
    // A leading dot covers `.`, `..` and the store's own hidden folder.
    if (segment.startsWith('.') || segment.includes('\\') || hasControl(segment)) refuse()
  }
}

function hasControl(text: string): boolean {
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}
