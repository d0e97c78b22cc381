// Recorded responses about videos, and the comparison of JSON bodies by members and types.

import { readFileSync } from 'node:fs'
import { z } from 'zod'

const recording = z.array(
  z.object({
    area: z.string(),
    name: z.string(),
    response: z.object({ status: z.int(), headers: z.record(z.string(), z.string()), body: z.unknown() }),
  }),
)
const file = new URL('../../fixtures/recordings/videos.json', import.meta.url)
const recordings = recording.parse(JSON.parse(readFileSync(file, 'utf8')))

export function recorded(area: string, name: string) {
  const found = recordings.find((one) => one.area === area && one.name === name)
  if (!found) throw new Error(`no recording ${area}: ${name}`)
  return found.response
}

/** A later job makes torrents, and pictures of a test file have other metadata. */
const FREE = new Set(['torrentUrl', 'torrentDownloadUrl', 'magnetUri', 'metadata', 'avatars', 'banners', 'value', 'title'])

/** Names and types at all levels; a list is compared by its first item. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? [shapeOf(value[0])] : []
  if (value === null || typeof value !== 'object') return value === null ? 'null' : typeof value
  const entries = Object.entries(value).filter(([name]) => !FREE.has(name))
  return Object.fromEntries(entries.map(([name, item]) => [name, shapeOf(item)]).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)))
}

/** The members of a refusal that clients depend on. */
export function refusalOf(body: unknown) {
  const { type, status, code, docs, ...rest } = z.looseObject({ type: z.string(), status: z.int() }).parse(body)
  const params = z.record(z.string(), z.unknown()).optional().parse(rest['invalid-params'])
  return { type, status, code, docs, params: params && Object.keys(params).sort() }
}
