// The Range header (RFC 9110, 14.2): one range of bytes is served; several or invalid ranges give the whole file.

import type { ByteRange } from '../../media/index.ts'

/** The requested bytes of a file of `size` bytes. */
export function parseRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header?.replaceAll(/\s/g, '') ?? '')
  if (!match) return 'whole'
  const [, first = '', last = ''] = match
  if (first === '') return suffix(last, size)
  const start = Number(first)
  if (last !== '' && Number(last) < start) return 'whole'
  if (start >= size) return 'unsatisfiable'
  return { start, end: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}

function suffix(length: string, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  if (length === '') return 'whole'
  if (Number(length) === 0 || size === 0) return 'unsatisfiable'
  return { start: Math.max(0, size - Number(length)), end: size - 1 }
}

/** True if If-Range (13.1.5) allows the range: it names this version, by a strong tag or by its date. */
export function rangeCounts(ifRange: string | undefined, version: { etag: string; modifiedAt: Date }): boolean {
  if (ifRange === undefined) return true
  if (ifRange.startsWith('"')) return ifRange === version.etag
  if (ifRange.startsWith('W/')) return false
  return Date.parse(ifRange) === Math.floor(version.modifiedAt.getTime() / 1000) * 1000
}
