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
    if (isIsoMedia) await assertWhole(handle, size)
    return { size, isIsoMedia }
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

/** The last box must end inside the file; a box of size 0 reaches to the end by definition. */
async function assertWhole(handle: FileHandle, size: number): Promise<void> {
  const header = Buffer.alloc(16)
  let offset = 0
  let hasMovie = false
  for (let count = 0; offset + 8 <= size && count < MAX_BOXES; count += 1) {
    const { bytesRead } = await handle.read(header, 0, 16, offset)
    const type = header.toString('latin1', 4, 8)
    const short = header.readUInt32BE(0)
    const length = short === 1 && bytesRead === 16 ? Number(header.readBigUInt64BE(8)) : short
    if (type === 'moov' || type === 'moof') hasMovie = true
    if (short === 0) return
    // Some writers leave a little padding after the last box; it is not for us to read.
    if (length < 8) return
    offset += length
  }
  if (offset > size || !hasMovie) throw new MediaError('truncated', 'The file is cut off before its end.')
}
