// Transfers from runners while they arrive: one result at a time for each lease, and a few parts. They end when the lease does, in whichever
// process that happens.

import type { Columns, Database } from '../../platform/database/index.ts'
import { makeKeyedLimit } from '../../platform/keyed-limit.ts'
import type { Logger } from '../../platform/logger.ts'
import { DomainError } from '../runtime/index.ts'
import type { Job } from '../runtime/runtime.entity.ts'

/** A transfer; `id` for a result. */
export interface Transfer {
  jobId: number
  tokenHash: Buffer
  id: string | undefined
}

const PARTS_AT_ONCE = 4
const MOST_WAITING = 100
/** In ms. */
const LOOK_EVERY = 1_000

export type Receiving = ReturnType<typeof makeReceiving>

/** `refusal` says why a runner does not have a job; undefined if it has. */
export function makeReceiving({
  db,
  logger,
  refusal,
}: {
  db: Pick<Database, 'query'>
  logger: Logger
  refusal(job: { state: string; tokenHash: Buffer | null } | undefined, tokenHash: Buffer): DomainError | undefined
}) {
  /** By the job. */
  const results = new Map<number, AbortController>()
  const parts = makeKeyedLimit<number>(PARTS_AT_ONCE)

  async function lookAt({ jobId, tokenHash, id }: Transfer): Promise<DomainError | undefined> {
    const [job] = await db.query<Columns<typeof Job, 'state' | 'receives'> & { tokenHash: Buffer | null }>(
      'select state, lease_token_hash as "tokenHash", receives from job where id = $1',
      [jobId],
    )
    return refusal(job, tokenHash) ?? (id !== undefined && job?.receives !== id ? superseded() : undefined)
  }

  /** Returns what ends the turn. */
  async function turnOf(jobId: number): Promise<() => void> {
    if (parts.waiting(jobId) >= MOST_WAITING) throw new DomainError('unavailable', 'Too many parts of this result are sent at once.')
    return await parts.enter(jobId)
  }

  return {
    /**
     * Waits for its turn and watches it from then on. `signal` aborts with the DomainError to answer: once the runner has lost the job, or
     * sends another result. Throws `unavailable` if too many wait.
     */
    async begin(transfer: Transfer): Promise<{ signal: AbortSignal; end(): void }> {
      const { jobId, id } = transfer
      const endTurn = id === undefined ? await turnOf(jobId) : undefined
      const over = new AbortController()
      if (id !== undefined) {
        results.get(jobId)?.abort(superseded())
        results.set(jobId, over)
      }
      const watch = setInterval(() => {
        lookAt(transfer).then(
          (why) => why && over.abort(why),
          // The next look may tell.
          (error: unknown) => logger.debug({ err: error, job: jobId }, 'the lease of a transfer cannot be looked up'),
        )
      }, LOOK_EVERY)
      const end = (): void => {
        clearInterval(watch)
        endTurn?.()
        if (results.get(jobId) === over) results.delete(jobId)
      }
      if (endTurn) {
        // It may have waited for long.
        const why = await lookAt(transfer).catch((error: unknown) => error)
        if (why !== undefined) {
          end()
          throw why
        }
      }
      return { signal: over.signal, end }
    },
  }
}

const superseded = (): DomainError => new DomainError('conflict', 'The runner sends another result of this job.')
