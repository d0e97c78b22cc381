// Uploads in progress on object storage, which cannot append: each flushed stretch of bytes is an object of its own, named by its offset
// and length. Together they are read as one file.

import { Readable } from 'node:stream'
import { MediaError } from '../errors.ts'
import { asStoreError } from './s3-client.ts'
import type { S3Objects } from './s3-objects.ts'
import type { Appender, ByteRange, FileRef, FileStat, OpenedFile } from './store.ts'

/** Bytes in memory before they become an object, even without a flush. */
const LARGEST_PIECE = 8 * 2 ** 20
const DIGITS = 15

interface Piece {
  name: string
  start: number
  size: number
  stat: FileStat
}

/** The part of a piece to read, by offsets in the file: `end` is exclusive. */
interface Stretch<P = Piece> {
  piece: P
  start: number
  end: number
}

const pieceFolder = (name: string): string => `${name}.pieces/`

/** The upload that an object belongs to; undefined for other objects. */
export const uploadOfPiece = (name: string): string | undefined => /^(.+)\.pieces\/\d+-\d+$/.exec(name)?.[1]

export function makeS3Uploads(objects: S3Objects) {
  const refOf = (name: string): FileRef => ({ kind: 'uploads', name })
  const nameOf = (upload: string, start: number, size: number): string =>
    `${pieceFolder(upload)}${String(start).padStart(DIGITS, '0')}-${size}`

  async function piecesOf(upload: string): Promise<Piece[]> {
    const pieces: Piece[] = []
    for await (const stat of objects.list('uploads', pieceFolder(upload))) {
      const [, start, size] = /(\d+)-(\d+)$/.exec(stat.name) ?? []
      if (start !== undefined && size !== undefined) {
        pieces.push({ name: stat.name, start: Number(start), size: Number(size), stat })
      }
    }
    return pieces
  }

  async function cut(upload: string, offset: number): Promise<void> {
    const pieces = await piecesOf(upload)
    const end = coverOf(pieces).at(-1)?.end ?? 0
    if (end < offset) {
      throw new MediaError('offset', `The file has ${end} bytes, fewer than the offset ${offset}.`)
    }
    for (const torn of pieces.filter(({ start, size }) => start < offset && start + size > offset)) {
      const { stream } = await objects.get(refOf(torn.name), { start: 0, end: offset - torn.start - 1 })
      // Copied within the store.
      await objects.put(refOf(nameOf(upload, torn.start, offset - torn.start)), stream).catch((error: unknown) => {
        throw asStoreError(error)
      })
    }
    for (const { name, start, size } of pieces) {
      if (start + size > offset || start >= offset) await objects.remove(refOf(name))
    }
  }

  async function* bytesOf(cover: readonly Stretch[], range: ByteRange): AsyncGenerator<Uint8Array> {
    for (const { piece, start, end } of cover) {
      const first = Math.max(start, range.start) - piece.start
      const last = Math.min(end - 1, range.end) - piece.start
      if (first > last) continue
      const { stream } = await objects.get(refOf(piece.name), { start: first, end: last })
      yield* stream
    }
  }

  async function find(upload: string): Promise<{ cover: Stretch[]; stat: FileStat } | undefined> {
    const pieces = await piecesOf(upload)
    const cover = coverOf(pieces)
    const last = cover.at(-1)?.piece ?? pieces.find(({ start }) => start === 0)
    if (!last) return undefined
    const size = cover.at(-1)?.end ?? 0
    const etag = `"${size.toString(16)}-${last.stat.etag.replaceAll('"', '')}"`
    return { cover, stat: { name: upload, size, modifiedAt: last.stat.modifiedAt, etag } }
  }

  return {
    async stat(upload: string): Promise<FileStat | undefined> {
      return (await find(upload))?.stat
    },

    /** Throws `not-found`. */
    async open(upload: string, range?: ByteRange): Promise<OpenedFile> {
      const found = await find(upload)
      if (!found) throw new MediaError('not-found', 'There is no such file.')
      const { cover, stat } = found
      const end = Math.min(range?.end ?? stat.size - 1, stat.size - 1)
      return { stat, stream: Readable.from(bytesOf(cover, { start: range?.start ?? 0, end }), { objectMode: false }) }
    },

    async remove(upload: string): Promise<void> {
      for (const { name } of await piecesOf(upload)) await objects.remove(refOf(name))
    },

    async openAppend(upload: string, offset: number): Promise<Appender> {
      await cut(upload, offset)
      let size = offset
      let stored = offset
      let waiting: Uint8Array[] = []
      const flush = async (): Promise<void> => {
        if (size === stored && size > 0) return
        await objects.put(refOf(nameOf(upload, stored, size - stored)), Buffer.concat(waiting))
        stored = size
        waiting = []
      }
      return {
        get size() {
          return size
        },
        async write(chunk) {
          waiting.push(chunk)
          size += chunk.byteLength
          if (size - stored >= LARGEST_PIECE) await flush()
        },
        async sync() {
          await flush()
          return stored
        },
        async close() {
          waiting = []
        },
      }
    },
  }
}

/**
 * The file from its beginning to the first hole, without duplicate bytes. Where pieces overlap, both contain the same bytes of the same
 * upload: a client sent them again after a writer was considered dead.
 */
export function coverOf<P extends Pick<Piece, 'start' | 'size'>>(pieces: readonly P[]): Stretch<P>[] {
  const waiting = pieces.toSorted((one, other) => one.start - other.start).values()
  const cover: Stretch<P>[] = []
  let next = waiting.next().value
  let furthest: P | undefined
  for (let end = 0; ; end = endOf(furthest)) {
    // Each piece is visited once: clients that send small chunks leave many.
    for (; next && next.start <= end; next = waiting.next().value) {
      if (!furthest || endOf(next) > endOf(furthest)) furthest = next
    }
    if (!furthest || endOf(furthest) <= end) return cover
    cover.push({ piece: furthest, start: end, end: endOf(furthest) })
  }
}

const endOf = ({ start, size }: Pick<Piece, 'start' | 'size'>): number => start + size
