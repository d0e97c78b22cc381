// Identifies viewers without storing them: a hash of the player's session or the IP address, keyed with a random salt that is deleted after
// the next day, and different for each video.

import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'

/** Origin of the request. */
export interface Watcher {
  /** The session id of the player, if it has one. */
  session: string | undefined
  address: string
}

export type ViewerHash = (videoId: number, watcher: Watcher, trustSession: boolean) => Promise<string>

const DAY_MS = 86_400_000

/** Returns UUIDs. All processes of one database share the salts; at midnight (UTC) a viewer becomes a new one. */
export function makeViewerHash({ db, clock }: { db: Pick<Database, 'query'>; clock: Clock }): ViewerHash {
  let salt: { day: string; value: Promise<Buffer> } | undefined

  const saltOf = async (day: string): Promise<Buffer> => {
    if (salt?.day !== day) salt = { day, value: load(day) }
    const current = salt
    try {
      return await current.value
    } catch (error) {
      if (salt === current) salt = undefined
      throw error
    }
  }

  async function load(day: string): Promise<Buffer> {
    await db.query('insert into viewer_salt (day, salt) values ($1, $2) on conflict do nothing', [day, randomBytes(32)])
    const [row] = await db.query<{ salt: Buffer }>('select salt from viewer_salt where day = $1', [day])
    if (!row) throw new Error('The salt of viewers is missing.')
    return row.salt
  }

  return async (videoId, { session, address }, trustSession) => {
    const key = await saltOf(clock.now().toISOString().slice(0, 10))
    const who = trustSession && session !== undefined ? `session ${session}` : `address ${address}`
    return createHmac('sha256', key).update(`${videoId} ${who}`).digest('hex').slice(0, 32)
  }
}

/** Deletes the salts of past days. */
export async function forgetSalts(db: Pick<Database, 'query'>, now: Date): Promise<void> {
  await db.query('delete from viewer_salt where day < $1', [new Date(now.getTime() - DAY_MS).toISOString().slice(0, 10)])
}
