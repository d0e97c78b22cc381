// `Content-Range` of a chunk: `bytes <first>-<last>/<size>`, or `bytes */<size>` to query the offset.

import type { ChunkRange } from '../../actors/upload/index.ts'

/** Null if the header is missing or malformed; the response then contains the offset. */
export function parseContentRange(header: string | undefined): ChunkRange | null {
  const question = /^bytes \*\/(\d{1,15}|\*)$/.exec(header ?? '')
  if (question) return { kind: 'status', size: question[1] === '*' ? null : Number(question[1]) }
  const chunk = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(header ?? '')
  if (!chunk) return null
  return { kind: 'chunk', from: Number(chunk[1]), to: Number(chunk[2]), size: Number(chunk[3]) }
}
