// Common part of Create and Update: they carry a document.

import { type Audience, type ObjectPart, readActivity } from './activity.ts'
import type { Read } from './read.ts'

export interface CarrierDocument extends Audience {
  id: string
  actor: string
  object: ObjectPart
  publishedAt: Date | null
}

export function readCarrier(document: unknown, type: 'Create' | 'Update'): Read<CarrierDocument> {
  const read = readActivity(document)
  if (!read.ok) return read
  const { id, actor, object, to, cc, publishedAt } = read.value
  if (read.value.type !== type) return { ok: false, problem: `not a ${type}` }
  return object?.id ? { ok: true, value: { id, actor, object, to, cc, publishedAt } } : { ok: false, problem: 'object: missing' }
}
