// Copies a remote HLS video: master, media playlists and all files that they name, into one folder of the store.

import type { Readable } from 'node:stream'
import { MediaError } from '../errors.ts'
import type { FileRef, Store } from '../store/store.ts'
import { type RemoteFileSource, readRemoteFile, streamRemoteFile } from './fetch-file.ts'
import { type RemotePlaylist, readRemotePlaylist } from './playlist.ts'

export interface MirrorLimits {
  /** Of the whole copy, in bytes. */
  maxBytes: number
  maxPlaylists: number
  /** Files other than playlists. */
  maxFiles: number
}

export interface MirrorOptions extends RemoteFileSource {
  store: Store
  /** Complete files in it are kept; files that are not part of the copy are removed. */
  folder: FileRef
  masterUrl: string
  /** Sizes of files as announced by the video's server, by address: a file with another size is refused. */
  sizes: ReadonlyMap<string, number>
  limits: MirrorLimits
  onProgress: (percent: number) => void
}

const MAX_PLAYLIST_BYTES = 1024 * 1024
const PLAIN_NAME = /^[\w-][\w.-]{0,150}$/
const PLAYLIST_NAME = /\.m3u8$/i
const MEDIA_NAME = /\.(?:mp4|m4s|m4a|m4v|ts|aac|webm|vtt)$/i

/** Makes the copy. Returns its bytes. Throws MediaError and FetchError; stored files stay in the folder. */
export async function mirrorHls(options: MirrorOptions): Promise<number> {
  const { store, folder, limits, onProgress } = options
  const { playlists, names } = await readPlaylists(options)
  const files = [...new Set([...playlists].flatMap(([, one]) => (one.kind === 'media' ? one.urls : [])))]
  if (files.length === 0) throw new MediaError('playlist', 'The playlist names no files.')
  if (files.length > limits.maxFiles) throw new MediaError('playlist', 'The playlists name too many files.')
  for (const url of files) names.add(url, MEDIA_NAME, '.bin')

  const expected = files.reduce((sum, url) => sum + (options.sizes.get(url) ?? 0), 0)
  if (expected > limits.maxBytes) throw new MediaError('too-large', 'The video is larger than copies may be.')
  let stored = 0
  for (const [index, url] of files.entries()) {
    stored += await copyFile(url, names.of(url), limits.maxBytes - stored, options)
    onProgress(Math.floor((100 * (index + 1)) / (files.length + 1)))
  }
  // The master comes last: if it exists, everything does.
  for (const [url, playlist] of [...playlists].toReversed()) {
    const text = Buffer.from(playlist.withNames(names.of))
    stored += text.length
    if (stored > limits.maxBytes) throw new MediaError('too-large', 'The copy is larger than allowed.')
    await store.put(inside(folder, names.of(url)), text)
  }
  await removeOthers(store, folder, names)
  return stored
}

/** A single file. Returns its bytes. */
export async function mirrorFile(
  options: RemoteFileSource & { store: Store; target: FileRef; url: string; size: number; maxBytes: number },
): Promise<number> {
  const { store, target, url, size, maxBytes } = options
  if (size > maxBytes) throw new MediaError('too-large', 'The video is larger than copies may be.')
  return await copyTo(target, url, { ...options, store, exact: size > 0 ? size : undefined, room: maxBytes })
}

async function readPlaylists(options: MirrorOptions) {
  const { masterUrl, limits } = options
  const names = makeNames()
  const playlists = new Map<string, RemotePlaylist>()
  const read = async (url: string): Promise<RemotePlaylist> => {
    const text = await readRemoteFile(url, { ...options, maxBytes: MAX_PLAYLIST_BYTES })
    const maxUrls = Math.max(limits.maxFiles, limits.maxPlaylists)
    const playlist = readRemotePlaylist(text.toString('utf8'), url, { maxUrls })
    playlists.set(url, playlist)
    names.add(url, PLAYLIST_NAME, '.m3u8')
    return playlist
  }
  const master = await read(new URL(masterUrl).href)
  if (master.kind === 'master') {
    if (master.urls.length > limits.maxPlaylists) throw new MediaError('playlist', 'There are too many renditions.')
    for (const url of master.urls) {
      if (playlists.has(url)) continue
      const { kind } = await read(url)
      if (kind === 'master') throw new MediaError('playlist', 'A rendition is no media playlist.')
    }
  }
  return { playlists, names }
}

/**
 * Names in the folder: the last part of the address if it is a plain name, since players resolve it against another base; otherwise a
 * number.
 */
function makeNames() {
  const byUrl = new Map<string, string>()
  const taken = new Set<string>()
  return {
    add(url: string, shape: RegExp, extension: string): void {
      if (byUrl.has(url)) return
      const last = new URL(url).pathname.split('/').at(-1) ?? ''
      const isFree = PLAIN_NAME.test(last) && shape.test(last) && !taken.has(last)
      const name = isFree ? last : `file-${byUrl.size}${extension}`
      if (taken.has(name)) throw new MediaError('playlist', 'Two files have one name.')
      taken.add(name)
      byUrl.set(url, name)
    },
    of(url: string): string {
      const name = byUrl.get(url)
      if (name === undefined) throw new MediaError('playlist', 'A file has no name.')
      return name
    },
    has: (name: string) => taken.has(name),
  }
}

async function copyFile(url: string, name: string, room: number, options: MirrorOptions): Promise<number> {
  const size = options.sizes.get(url)
  return await copyTo(inside(options.folder, name), url, {
    ...options,
    exact: size !== undefined && size > 0 ? size : undefined,
    room,
  })
}

async function copyTo(
  target: FileRef,
  url: string,
  options: RemoteFileSource & { store: Store; exact: number | undefined; room: number },
): Promise<number> {
  const { store, exact, room, signal } = options
  signal.throwIfAborted()
  const known = exact === undefined ? undefined : await store.stat(target)
  // A resumed copy skips complete files.
  if (known && known.size === exact) return known.size
  const maxBytes = exact ?? room
  if (maxBytes <= 0 || maxBytes > room) throw new MediaError('too-large', 'The copy is larger than allowed.')
  const bytes: Readable = await streamRemoteFile(url, { ...options, maxBytes })
  const { size } = await store.put(target, bytes)
  if (exact !== undefined && size !== exact) {
    await store.remove(target)
    throw new MediaError('truncated', `${url} has ${size} bytes in place of ${exact}.`)
  }
  return size
}

async function removeOthers(store: Store, folder: FileRef, names: { has(name: string): boolean }): Promise<void> {
  const others: string[] = []
  for await (const { name } of store.list(folder.kind, folder.name)) {
    if (!names.has(name.slice(folder.name.length + 1))) others.push(name)
  }
  for (const name of others) await store.remove({ kind: folder.kind, name })
}

const inside = (folder: FileRef, name: string): FileRef => ({ kind: folder.kind, name: `${folder.name}/${name}` })
