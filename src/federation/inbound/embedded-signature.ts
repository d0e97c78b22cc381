// Trusts forwarded activities by the signature of their author inside, unless it is so old that a duplicate could not be detected any more.

import { type DocumentChecks, type DocumentVerdict, type FindKey, verifyDocument } from '../security/index.ts'
import type { JsonObject } from '../wire/index.ts'
import { notAfter } from './order.ts'

export type EmbeddedVerdict =
  /** `document` is the only part that can be trusted; `saidAt` is null if its author states no time. */
  { ok: true; owner: string; document: JsonObject; saidAt: Date | null } | Extract<DocumentVerdict, { ok: false }>

/** `keepIdsMs` is how long the ids of activities are stored: a replay after that time would have its effect again. */
export async function verifyEmbedded(
  document: JsonObject,
  options: { findKey: FindKey; now: Date; keepIdsMs: number; checks: DocumentChecks },
): Promise<EmbeddedVerdict> {
  const { now, keepIdsMs } = options
  const verdict = await verifyDocument(document, options)
  if (!verdict.ok) return verdict
  const { owner, created } = verdict
  if (created === null || now.getTime() - created.getTime() > keepIdsMs) {
    return { ok: false, reason: 'expired', keyId: verdict.keyId }
  }
  return { ok: true, owner, document: verdict.document, saidAt: notAfter(created, now) }
}
