// Checks signatures in documents in a worker thread, with a deadline: canonicalisation may take much longer than parsing.

import { availableParallelism } from 'node:os'
import { makeWorkerPool, TaskError } from '../../platform/worker-pool.ts'
import type { JsonObject } from '../wire/context.ts'

export type CheckTask = {
  /** The whole document as JSON. */
  document: string
  /** The public key of the signer. */
  pem: string
} & ({ kind: 'ld-signature' } | { kind: 'proof'; proof: JsonObject; signature: Uint8Array })

/** `good` with a document, as JSON, if only that part can be trusted. */
export type CheckResult = { verdict: 'good'; document?: string } | { verdict: 'bad-signature' | 'unverifiable' }

export type DocumentChecks = ReturnType<typeof makeDocumentChecks>

const POOL = {
  module: new URL('./check-thread.ts', import.meta.url),
  threads: availableParallelism() > 2 ? 2 : 1,
  // Honest documents take some 10 ms.
  deadlineMs: 2_000,
  maxWaiting: 200,
  idleMs: 60_000,
  maxHeapMiB: 256,
}

export function makeDocumentChecks() {
  const pool = makeWorkerPool<CheckTask, CheckResult>(POOL)
  return {
    /** `busy` if too many checks are queued, so that a retry helps. A check that takes too long is unverifiable. */
    async check(task: CheckTask): Promise<CheckResult | { verdict: 'busy' }> {
      try {
        return await pool.run(task)
      } catch (error) {
        if (!(error instanceof TaskError)) throw error
        return { verdict: error.reason === 'busy' ? 'busy' : 'unverifiable' }
      }
    },
    /** Stops its threads. */
    close: pool.close,
  }
}
