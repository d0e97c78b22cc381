// Where bytes live: the interface that the file system and object storage share. Names are relative, with `/` between
// segments, such as `hls/private/<uuid>/<uuid>-720.m3u8`.

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

/** Where bytes can lie. */
export const places = ['file-system', 'object-storage'] as const
export type Place = (typeof places)[number]

/** First and last byte, both included, as in a Range header. */
export interface ByteRange {
  start: number
  end: number
}

/** How a download is answered. */
export interface SavedAs {
  /** Content-Disposition. */
  disposition: string
  /** Content-Type. */
  type: string
}

export interface OpenedFile {
  stat: FileStat
  /** The bytes asked for. The reader must consume or destroy it. */
  stream: Readable
  /**
   * Writes the bytes into an answer in place of `stream`, where that costs less, and does not end it. Throws when the reader
   * leaves.
   */
  sendTo?(target: Writable): Promise<void>
}

/** Bytes that grow an upload. What `sync` returned is on disk and may be acknowledged. */
export interface Appender {
  /** Bytes written so far, from the start of the file. */
  readonly size: number
  write(chunk: Uint8Array): Promise<void>
  /** Flushes to the disk and returns the size that is safe. */
  sync(): Promise<number>
  /** Closes without flushing; safe to call twice. */
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
   * Stores a file as a whole or not at all, replacing one of the same name. `from` is a stream, bytes, or the path of a
   * local file, which is moved unless `keep` is set.
   */
  put(ref: FileRef, from: Source): Promise<FileStat>
  /**
   * Throws MediaError `not-found`. A range beyond the end is cut to the end. The signal is for the way there, at the least; throws
   * MediaError `aborted`.
   */
  open(ref: FileRef, range?: ByteRange, signal?: AbortSignal): Promise<OpenedFile>
  stat(ref: FileRef): Promise<FileStat | undefined>
  /** Removes a file; a missing one is fine. */
  remove(ref: FileRef): Promise<void>
  /** Removes a folder and all in it; a missing one is fine. */
  removeFolder(ref: FileRef): Promise<void>
  /** The files under a folder (all of the kind without one), with full names, unordered. */
  list(kind: FileKind, folder?: string): AsyncIterable<FileStat>
  /** Renames a file inside its kind, as between public and private. Done twice it stays done. */
  move(ref: FileRef, to: string): Promise<void>
  /** Stores the same bytes under another name as well, of this kind or another. Done twice it stays done. */
  copy(ref: FileRef, to: FileRef): Promise<void>
  /** Renames a folder inside its kind. Done twice it stays done. */
  moveFolder(ref: FileRef, to: string): Promise<void>
  /**
   * Gives `fn` a path that local tools can read. It is valid only until `fn` settles. The signal is for the way there; throws
   * MediaError `aborted`.
   */
  withLocalPath<T>(ref: FileRef, fn: (path: string) => Promise<T>, signal?: AbortSignal): Promise<T>
  /**
   * Opens an upload to be written from `offset` on; bytes after it are cut off. Throws MediaError `offset` when the file
   * is shorter than that.
   */
  openAppend(name: string, offset: number): Promise<Appender>
  /** An empty or resumed folder under `tmp` for the work of one job. */
  workFolder(name: string): Promise<string>
  removeWorkFolder(name: string): Promise<void>
  /** The names of those directly under `tmp`. */
  workFolders(): Promise<string[]>
  /**
   * Bytes of the disk on which files of the kind are stored: those that are free for this process, and all of them. Undefined for a
   * kind that goes to object storage.
   */
  room(kind: FileKind): Promise<{ free: number; total: number } | undefined>
  /** Where the file lies now. */
  placeOf(ref: FileRef): Promise<Place | undefined>
  /** Where everybody reads the file without this server; undefined when it is not for everybody, or lies on the disk. */
  publicAddress(ref: FileRef): Promise<string | undefined>
  /** The same of a file that is not for everybody, for a short time; undefined when this server has to send it. */
  signedAddress(ref: FileRef): Promise<string | undefined>
  /**
   * The same of any file, which is answered with these headers; undefined when this server has to send it, also because the bucket is
   * for everybody at another address.
   */
  downloadAddress(ref: FileRef, saved: SavedAs): Promise<string | undefined>
  /** The files of the kind in that place alone; undefined when this server keeps none there. */
  only(place: Place, kind: FileKind): Store | undefined
}

/** Throws MediaError `aborted` when nobody waits for the bytes any more. */
export function assertAwaited(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new MediaError('aborted', 'Nobody waits for the file any more.')
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
