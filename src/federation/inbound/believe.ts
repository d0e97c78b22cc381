// What others pass on is believed for the signature of its author inside, if that is not so old that we would no longer
// know whether we had it.

import { type DocumentChecks, type DocumentVerdict, type FindKey, verifyDocument } from '../security/index.ts'
import type { JsonObject } from '../wire/index.ts'
import { notAfter } from './order.ts'

export type Belief =
  /** `document` is the only thing that may be believed; `saidAt` null when its author does not say. */
  { ok: true; owner: string; document: JsonObject; saidAt: Date | null } | Extract<DocumentVerdict, { ok: false }>

/** `keepIdsMs` is how long activities are remembered: a replay after that time would have its effect again. */
export async function believe(
  document: JsonObject,
  options: { findKey: FindKey; now: Date; keepIdsMs: number; checks: DocumentChecks },
): Promise<Belief> {
  const { now, keepIdsMs } = options
  const verdict = await verifyDocument(document, options)
  if (!verdict.ok) return verdict
  const { owner, created } = verdict
  if (created === null || now.getTime() - created.getTime() > keepIdsMs) {
    return { ok: false, reason: 'expired', keyId: verdict.keyId }
  }
  return { ok: true, owner, document: verdict.document, saidAt: notAfter(created, now) }
}
