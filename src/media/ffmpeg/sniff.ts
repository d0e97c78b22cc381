// A look at the bytes of a file before any tool opens it: empty, a playlist or script, or an MP4 that was cut off.

import { type FileHandle, open } from 'node:fs/promises'
import { MediaError } from '../errors.ts'

const HEAD_BYTES = 4096
const MAX_BOXES = 100_000
/** Box types that an ISO base media or QuickTime file begins with. */
const FIRST_BOXES = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot', 'styp', 'moof', 'sidx', 'uuid'])

export interface Sniffed {
  /** Bytes. */
  size: number
  /** True when the first bytes look like an ISO base media file (MP4, MOV, 3GP). */
  isIsoMedia: boolean
  /** True when its edit lists hide or repeat a part of it: players of HLS show what is hidden. */
  isCut: boolean
}

/** Throws MediaError `empty`, `playlist` or `truncated`; otherwise says what was seen. */
export async function sniff(path: string): Promise<Sniffed> {
  const handle = await open(path, 'r')
  try {
    const { size } = await handle.stat()
    if (size === 0) throw new MediaError('empty', 'The file is empty.')
    const head = Buffer.alloc(Math.min(HEAD_BYTES, size))
    await handle.read(head, 0, head.length, 0)
    if (isScript(head)) throw new MediaError('playlist', 'Playlists and scripts are not media files.')
    const isIsoMedia = head.length >= 8 && FIRST_BOXES.has(head.toString('latin1', 4, 8))
    const movie = isIsoMedia ? await findMovie(handle, size) : undefined
    return { size, isIsoMedia, isCut: movie !== undefined && (await hasCuts(handle, movie)) }
  } finally {
    await handle.close()
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
  /** Of its content. */
  start: number
  end: number
}

/** Boxes side by side. A box of size 0 reaches to the end; some writers leave a little padding after the last one. */
async function* boxes(handle: FileHandle, { start, end }: Pick<Box, 'start' | 'end'>): AsyncGenerator<Box> {
  const header = Buffer.alloc(16)
  let offset = start
  for (let count = 0; offset + 8 <= end && count < MAX_BOXES; count += 1) {
    const { bytesRead } = await handle.read(header, 0, 16, offset)
    const type = header.toString('latin1', 4, 8)
    const short = header.readUInt32BE(0)
    const isLong = short === 1 && bytesRead === 16
    const length = short === 0 ? end - offset : isLong ? Number(header.readBigUInt64BE(8)) : short
    if (length < 8) return
    yield { type, start: offset + (isLong ? 16 : 8), end: offset + length }
    offset += length
  }
}

/** The `moov` box; undefined where fragments do without. Throws `truncated` when the last box ends after the file. */
async function findMovie(handle: FileHandle, size: number): Promise<Box | undefined> {
  let movie: Box | undefined
  let hasFragments = false
  for await (const box of boxes(handle, { start: 0, end: size })) {
    if (box.end > size) throw new MediaError('truncated', 'The file is cut off before its end.')
    if (box.type === 'moov') movie = box
    if (box.type === 'moof') hasFragments = true
  }
  if (!movie && !hasFragments) throw new MediaError('truncated', 'The file is cut off before its end.')
  return movie
}

/** Encoders need the start of a track to warm up, and pictures wait to be put in order: that is no cut. */
const WARM_UP_SECONDS = 0.25

async function hasCuts(handle: FileHandle, movie: Box): Promise<boolean> {
  for await (const track of boxes(handle, movie)) {
    if (track.type !== 'trak') continue
    let edits: number[] = []
    let scale = 0
    for await (const part of boxes(handle, track)) {
      if (part.type !== 'edts' && part.type !== 'mdia') continue
      for await (const box of boxes(handle, part)) {
        if (box.type === 'elst') edits = await readEdits(handle, box)
        if (box.type === 'mdhd') scale = await readScale(handle, box)
      }
    }
    if (edits.length > 1 || (scale > 0 && (edits[0] ?? 0) / scale > WARM_UP_SECONDS)) return true
  }
  return false
}

/** The first moments that the edits of a track show, in its time scale; pauses are left out. Only the first few. */
async function readEdits(handle: FileHandle, { start }: Box): Promise<number[]> {
  const bytes = Buffer.alloc(8 + 8 * 20)
  await handle.read(bytes, 0, bytes.length, start)
  const isLong = bytes.readUInt8(0) === 1
  const count = Math.min(bytes.readUInt32BE(4), 8)
  const starts = Array.from({ length: count }, (_, index) =>
    isLong ? Number(bytes.readBigInt64BE(16 + index * 20)) : bytes.readInt32BE(12 + index * 12),
  )
  return starts.filter((at) => at >= 0)
}

/** Units in a second. */
async function readScale(handle: FileHandle, { start }: Box): Promise<number> {
  const bytes = Buffer.alloc(24)
  await handle.read(bytes, 0, bytes.length, start)
  return bytes.readUInt32BE(bytes.readUInt8(0) === 1 ? 20 : 12)
}
