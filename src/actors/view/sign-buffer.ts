// Stores the signs of viewers in batches: signs that arrive during a statement share the next one. A resolved call means stored; there is
// no timer.

import type { Database } from '../../platform/database/index.ts'

export interface StoredSign {
  videoId: number
  viewer: string
  seconds: number
  isSeek: boolean
  seenAt: Date
}

const MAX_AT_ONCE = 2000

/** Resolves when the sign is stored, and throws if that failed. */
export function makeSignBuffer({ db }: { db: Pick<Database, 'query'> }): (sign: StoredSign) => Promise<void> {
  let waiting: { sign: StoredSign; settle: PromiseWithResolvers<void> }[] = []
  let isWriting = false

  async function write(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_AT_ONCE)
      waiting = waiting.slice(MAX_AT_ONCE)
      try {
        await insert(batch.map(({ sign }) => sign))
        for (const { settle } of batch) settle.resolve()
      } catch (error) {
        for (const { settle } of batch) settle.reject(error)
      }
    }
    isWriting = false
  }

  const insert = (signs: StoredSign[]): Promise<unknown> =>
    db.query(
      `insert into view_sign (video_id, viewer, seconds, is_seek, seen_at)
       select * from unnest((select $1::int[]), (select $2::uuid[]), (select $3::int[]), (select $4::boolean[]), (select $5::timestamptz[]))`,
      [
        signs.map(({ videoId }) => videoId),
        signs.map(({ viewer }) => viewer),
        signs.map(({ seconds }) => seconds),
        signs.map(({ isSeek }) => isSeek),
        signs.map(({ seenAt }) => seenAt),
      ],
    )

  return async (sign) => {
    const settle = Promise.withResolvers<void>()
    waiting.push({ sign, settle })
    if (!isWriting) void write()
    await settle.promise
  }
}
