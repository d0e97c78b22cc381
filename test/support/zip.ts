// Builds ZIP archives byte by byte, so that any field can be wrong.

import { crc32, deflateRawSync } from 'node:zlib'

export interface ZipFile {
  name: string | Buffer
  /** The uncompressed bytes. */
  data?: Buffer | string
  /** Stored (0, the default) or Deflate (8). */
  method?: number
  /** Overrides the values computed from the data. */
  packed?: Buffer
  crc?: number
  size?: number
  packedSize?: number
  flags?: number
  /** Unix mode, such as 0o120777 of a symbolic link. */
  mode?: number
  /** Offset of the local header in the central directory. */
  offset?: number
  /** Extra fields of the central directory entry. */
  extra?: Buffer
  /** Extra fields of the local header. */
  localExtra?: Buffer
  /** Only an entry in the central directory, without local header and data. */
  listedOnly?: boolean
}

export interface ZipLies {
  before?: Buffer
  count?: number
  listOffset?: number
  comment?: Buffer
  /** Bytes between the central directory and its end record. */
  beforeEnd?: Buffer
}

const UTF8 = 0x800

/** Builds an archive. */
export function makeZip(files: readonly ZipFile[], lies: ZipLies = {}): Buffer {
  const parts: Buffer[] = [lies.before ?? Buffer.alloc(0)]
  const listed: Buffer[] = []
  const at = () => parts.reduce((sum, { length }) => sum + length, 0)
  for (const file of files) {
    const name = Buffer.from(file.name)
    const data = Buffer.from(file.data ?? '')
    const method = file.method ?? 0
    const packed = file.packed ?? (method === 8 ? deflateRawSync(data) : data)
    const offset = file.offset ?? at()
    const crc = file.crc ?? crc32(data)
    const size = file.size ?? data.length
    const packedSize = file.packedSize ?? packed.length
    const flags = file.flags ?? UTF8
    const common = fields([flags, 2], [method, 2], [0, 4], [crc, 4], [packedSize, 4], [size, 4], [name.length, 2])
    if (!file.listedOnly) {
      const extra = file.localExtra ?? Buffer.alloc(0)
      parts.push(fields([0x04034b50, 4], [20, 2]), common, fields([extra.length, 2]), name, extra, packed)
    }
    const extra = file.extra ?? Buffer.alloc(0)
    const mode = file.mode ?? 0
    listed.push(
      fields([0x02014b50, 4], [(3 << 8) | 20, 2], [20, 2]),
      common,
      fields([extra.length, 2], [0, 2], [0, 2], [0, 2], [(mode << 16) >>> 0, 4], [offset, 4]),
      name,
      extra,
    )
  }
  const list = Buffer.concat(listed)
  const start = lies.listOffset ?? at()
  const count = lies.count ?? files.length
  const comment = lies.comment ?? Buffer.alloc(0)
  const end = fields([0x06054b50, 4], [0, 2], [0, 2], [count, 2], [count, 2], [list.length, 4], [start, 4])
  return Buffer.concat([...parts, list, lies.beforeEnd ?? Buffer.alloc(0), end, fields([comment.length, 2]), comment])
}

/** Little-endian numbers of the given sizes in bytes. */
export function fields(...numbers: readonly (readonly [value: number, bytes: 2 | 4 | 8])[]): Buffer {
  return Buffer.concat(
    numbers.map(([value, bytes]) => {
      const field = Buffer.alloc(bytes)
      if (bytes === 8) field.writeBigUInt64LE(BigInt(value))
      else field.writeUIntLE(value, 0, bytes)
      return field
    }),
  )
}

/** The ZIP64 end record and locator, to be placed before the end record. */
export function zip64End({ count, listSize, listOffset, at }: Record<'count' | 'listSize' | 'listOffset' | 'at', number>) {
  return Buffer.concat([
    fields([0x06064b50, 4], [44, 8], [45, 2], [45, 2], [0, 4], [0, 4], [count, 8], [count, 8]),
    fields([listSize, 8], [listOffset, 8]),
    fields([0x07064b50, 4], [0, 4], [at, 8], [1, 4]),
  ])
}
