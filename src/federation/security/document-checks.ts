// Checks signatures in documents in a worker thread, with a deadline: canonicalisation may take much longer than parsing.

import { availableParallelism } from 'node:os'
import type { Logger } from '../../platform/logger.ts'
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

const THREAD = new URL('./check-thread.ts', import.meta.url)
const POOL = {
  threads: availableParallelism() > 2 ? 2 : 1,
  // Honest documents take some 10 ms.
  deadlineMs: 2_000,
  maxWaiting: 200,
  idleMs: 60_000,
  maxHeapMiB: 256,
}

export function makeDocumentChecks({ logger, module = THREAD }: { logger: Logger; module?: URL }) {
  const pool = makeWorkerPool<CheckTask, CheckResult>({ ...POOL, module })
  return {
    /** `busy` if too many checks are queued or no thread starts, so that a retry helps. A check that takes too long is unverifiable. */
    async check(task: CheckTask): Promise<CheckResult | { verdict: 'busy' }> {
      try {
        return await pool.run(task)
      } catch (error) {
        if (!(error instanceof TaskError)) throw error
        if (error.reason === 'unavailable') logger.error({ err: error }, 'no thread starts that checks signatures in documents')
        return { verdict: error.reason === 'busy' || error.reason === 'unavailable' ? 'busy' : 'unverifiable' }
      }
    },
    /** Stops its threads. */
    close: pool.close,
  }
}
