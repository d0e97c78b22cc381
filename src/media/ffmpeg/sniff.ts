// Inspects the bytes of a file before any tool opens it: empty, a playlist or script, or a truncated MP4.

import { type FileHandle, open } from 'node:fs/promises'
import { MediaError } from '../errors.ts'

const HEAD_BYTES = 4096
/** Bytes per read: small boxes are adjacent. */
const BLOCK_BYTES = 16 * 1024
/** Top-level boxes; a long recording has two per fragment. Further ones are ignored. */
const MAX_PARTS = 50_000
/** Boxes within the description of a movie, for all tracks: a hundred tracks have some 2,000. */
const MAX_IN_MOVIE = 10_000
const DEFAULT_TIMEOUT_MS = 30_000
/** Box types at the beginning of an ISO base media or QuickTime file. */
const FIRST_BOXES = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot', 'styp', 'moof', 'sidx', 'uuid'])

export interface Sniffed {
  /** Bytes. */
  size: number
  /** True if the first bytes look like an ISO base media file (MP4, MOV, 3GP). */
  isIsoMedia: boolean
  /** True if its edit lists hide or repeat a part of it: players of HLS show what is hidden. */
  isCut: boolean
  /** True if its frames are in fragments, which describe only themselves. */
  isFragmented: boolean
  /** Average seconds between key frames; undefined without a table. */
  keyFrameEvery: number | undefined
}

export interface SniffOptions {
  /** Timeout in milliseconds. */
  timeoutMs?: number | undefined
  signal?: AbortSignal | undefined
}

/** Throws MediaError `empty`, `playlist`, `truncated`, `unreadable`, `time-out` or `aborted`; otherwise returns its findings. */
export async function sniff(path: string, options: SniffOptions = {}): Promise<Sniffed> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    if (size === 0) throw new MediaError('empty', 'The file is empty.')
    const bytes = makeReader(handle, options)
    const head = await bytes(0, HEAD_BYTES)
    if (isScript(head)) throw new MediaError('playlist', 'Playlists and scripts are not media files.')
    const isIsoMedia = head.length >= 8 && FIRST_BOXES.has(head.toString('latin1', 4, 8))
    const { movie, isFragmented } = isIsoMedia ? await findMovie(bytes, size) : nothing
    const { isCut, keyFrameEvery } = movie ? await readMovie(bytes, movie) : { isCut: false, keyFrameEvery: undefined }
    return { size, isIsoMedia, isCut, isFragmented, keyFrameEvery }
  } finally {
    await handle.close()
  }
}

/** Up to `length` bytes from `offset`; fewer at the end of the file. */
type Bytes = (offset: number, length: number) => Promise<Buffer>

function makeReader(handle: FileHandle, { timeoutMs = DEFAULT_TIMEOUT_MS, signal }: SniffOptions): Bytes {
  const endsAt = performance.now() + timeoutMs
  let block = { start: 0, bytes: Buffer.alloc(0) }
  return async (offset, length) => {
    if (signal?.aborted) throw new MediaError('aborted', 'Reading the file was cancelled.')
    if (performance.now() > endsAt) throw new MediaError('time-out', 'Reading the file took too long.')
    if (offset < block.start || offset + length > block.start + block.bytes.length) {
      const buffer = Buffer.allocUnsafe(Math.max(length, BLOCK_BYTES))
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset)
      block = { start: offset, bytes: buffer.subarray(0, bytesRead) }
    }
    return block.bytes.subarray(offset - block.start, offset - block.start + length)
  }
}

function isScript(head: Buffer): boolean {
  const text = head
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart()
  return /^(#EXTM3U|ffconcat|\[playlist\]|v=0\r?\n|<\?xml|<MPD|<SmoothStreamingMedia|<smil)/i.test(text)
}

interface Box {
  type: string
  /** Start of its content. */
  start: number
  end: number
}

/** How many more boxes may be read. */
interface Budget {
  left: number
}

/**
 * Adjacent boxes. A box of size 0 extends to the end; some writers leave a little padding after the last one. The ends are the stated ones,
 * even beyond the file.
 */
async function* boxes(bytes: Bytes, { start, end }: Pick<Box, 'start' | 'end'>, budget: Budget): AsyncGenerator<Box> {
  let offset = start
  for (; offset + 8 <= end && budget.left > 0; budget.left -= 1) {
    const header = await bytes(offset, 16)
    if (header.length < 8) return
    const type = header.toString('latin1', 4, 8)
    const short = header.readUInt32BE(0)
    const isLong = short === 1 && header.length === 16
    const length = short === 0 ? end - offset : isLong ? Number(header.readBigUInt64BE(8)) : short
    if (length < (isLong ? 16 : 8)) return
    yield { type, start: offset + (isLong ? 16 : 8), end: offset + length }
    offset += length
  }
}

/** Boxes within another one, truncated at its end, like in ffmpeg. */
async function* boxesIn(bytes: Bytes, parent: Box, budget: Budget): AsyncGenerator<Box> {
  for await (const box of boxes(bytes, parent, budget)) yield { ...box, end: Math.min(box.end, parent.end) }
  if (budget.left <= 0) throw new MediaError('unreadable', 'The file describes itself at too great a length.')
}

interface Movie {
  /** The `moov` box; undefined in files that consist of fragments. */
  movie: Box | undefined
  isFragmented: boolean
}

const nothing: Movie = { movie: undefined, isFragmented: false }

/** Throws `truncated` if the last box ends after the file. */
async function findMovie(bytes: Bytes, size: number): Promise<Movie> {
  let movie: Box | undefined
  let isFragmented = false
  for await (const box of boxes(bytes, { start: 0, end: size }, { left: MAX_PARTS })) {
    if (box.end > size) throw new MediaError('truncated', 'The file is cut off before its end.')
    if (box.type === 'moov') movie = box
    if (box.type === 'moof') isFragmented = true
  }
  if (!movie && !isFragmented) throw new MediaError('truncated', 'The file is cut off before its end.')
  return { movie, isFragmented }
}

/** Encoders need some samples at the start of a track to warm up, and pictures may be reordered: that is no cut. */
const WARM_UP_SECONDS = 0.25

/** Throws `unreadable` if a track is encrypted: it looks like any other stream, and plays as noise. */
async function readMovie(bytes: Bytes, movie: Box): Promise<Pick<Sniffed, 'isCut' | 'keyFrameEvery'>> {
  const budget = { left: MAX_IN_MOVIE }
  let isCut = false
  let keyFrameEvery: number | undefined
  for await (const track of boxesIn(bytes, movie, budget)) {
    if (track.type !== 'trak') continue
    let edits: number[] = []
    let time = { scale: 0, duration: 0 }
    let isPicture = false
    let keyFrames: number | undefined
    for await (const part of boxesIn(bytes, track, budget)) {
      if (part.type !== 'edts' && part.type !== 'mdia') continue
      for await (const box of boxesIn(bytes, part, budget)) {
        if (box.type === 'elst') edits = await readEdits(bytes, box)
        if (box.type === 'hdlr') isPicture = (await startOf(bytes, box, 12)).toString('latin1', 8, 12) === 'vide'
        if (box.type === 'mdhd') time = await readTime(bytes, box)
        if (box.type === 'minf') keyFrames = await readSamples(bytes, box, budget)
      }
    }
    isCut ||= edits.length > 1
    const { scale, duration } = time
    if (scale === 0) continue
    isCut ||= (edits[0] ?? 0) / scale > WARM_UP_SECONDS
    if (isPicture && keyFrames) keyFrameEvery = Math.max(keyFrameEvery ?? 0, duration / scale / keyFrames)
  }
  return { isCut, keyFrameEvery }
}

/** Sample entries of ISO/IEC 23001-7 (Common Encryption), and of the earlier DRM of shops. */
const ENCRYPTED = new Set(['encv', 'enca', 'drmi', 'drms'])

/** Number of key frames in its table; undefined without one, for example if every frame is one. */
async function readSamples(bytes: Bytes, media: Box, budget: Budget): Promise<number | undefined> {
  let keyFrames: number | undefined
  for await (const table of boxesIn(bytes, media, budget)) {
    if (table.type !== 'stbl') continue
    for await (const box of boxesIn(bytes, table, budget)) {
      if (box.type === 'stss') keyFrames = (await startOf(bytes, box, 8)).readUInt32BE(4)
      if (box.type !== 'stsd') continue
      const content = await startOf(bytes, box, 16)
      if (ENCRYPTED.has(content.toString('latin1', 12, 16))) throw new MediaError('unreadable', 'The file is encrypted.')
    }
  }
  return keyFrames
}

/** The start times of a track's edits, in its time scale, without pauses. Only the first few. */
async function readEdits(bytes: Bytes, box: Box): Promise<number[]> {
  const content = await startOf(bytes, box, 8 + 8 * 20)
  const isLong = content.readUInt8(0) === 1
  const count = Math.min(content.readUInt32BE(4), 8)
  const starts = Array.from({ length: count }, (_, index) =>
    isLong ? Number(content.readBigInt64BE(16 + index * 20)) : content.readInt32BE(12 + index * 12),
  )
  return starts.filter((at) => at >= 0)
}

/** `scale`: units per second; `duration` in these. */
async function readTime(bytes: Bytes, box: Box): Promise<{ scale: number; duration: number }> {
  const content = await startOf(bytes, box, 32)
  return content.readUInt8(0) === 1
    ? { scale: content.readUInt32BE(20), duration: Number(content.readBigUInt64BE(24)) }
    : { scale: content.readUInt32BE(12), duration: content.readUInt32BE(16) }
}

/** The first bytes of a box, padded with zeros. */
async function startOf(bytes: Bytes, { start, end }: Box, length: number): Promise<Buffer> {
  const found = await bytes(start, Math.max(0, Math.min(length, end - start)))
  return Buffer.concat([found, Buffer.alloc(length - found.length)])
}
