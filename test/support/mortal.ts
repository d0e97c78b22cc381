// A process that dies at a chosen call of its store: from then on nothing that it asks of the store or of the database answers, so
// that none of its code goes on, neither to clean up nor to tell anybody. What it had written stays.

import type { Store } from '../../src/media/index.ts'
import type { Database } from '../../src/platform/database/index.ts'
import { processIdentity } from '../../src/platform/process-identity.ts'

export interface Mortal {
  wrapStore(store: Store): Store
  wrapDatabase(db: Database): Database
  died: Promise<void>
  /** The moments at which it might have died so far: before and after each call that changes what is stored. */
  moments: string[]
  /** Ends its connections to the database; false when it lives. */
  bury(): Promise<boolean>
}

/** Dies at the moment of that number, from 1 on; by default never. */
export function makeMortal(fatal = Number.POSITIVE_INFINITY): Mortal {
  const moments: string[] = []
  const { promise: died, resolve: die } = Promise.withResolvers<void>()
  const databases: Database[] = []
  let isDead = false

  const silence = <T>(): Promise<T> => new Promise<T>(() => undefined)

  async function asked<T>(work: () => Promise<T>): Promise<T> {
    if (isDead) return await silence()
    try {
      const result = await work()
      return isDead ? await silence<T>() : result
    } catch (error) {
      if (isDead) return await silence()
      throw error
    }
  }

  function moment(name: string): void {
    if (isDead) return
    moments.push(name)
    if (moments.length !== fatal) return
    isDead = true
    die()
  }

  const changing =
    <A extends unknown[], R>(name: string, work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      moment(`before ${name}`)
      return await asked(async () => {
        const result = await work(...args)
        moment(`after ${name}`)
        return result
      })
    }

  return {
    moments,
    died,
    wrapStore: (store) => ({
      ...store,
      put: changing('put', store.put),
      remove: changing('remove', store.remove),
      removeFolder: changing('removeFolder', store.removeFolder),
      move: changing('move', store.move),
      moveFolder: changing('moveFolder', store.moveFolder),
      workFolder: changing('workFolder', store.workFolder),
      removeWorkFolder: changing('removeWorkFolder', store.removeWorkFolder),
      open: (...args) => asked(() => store.open(...args)),
      stat: (ref) => asked(() => store.stat(ref)),
      placeOf: (ref) => asked(() => store.placeOf(ref)),
      withLocalPath: (...args) => asked(() => store.withLocalPath(...args)),
      async openAppend(name, offset) {
        const file = await asked(() => store.openAppend(name, offset))
        return {
          get size() {
            return file.size
          },
          write: (chunk) => asked(() => file.write(chunk)),
          sync: changing('sync', () => file.sync()),
          close: () => asked(() => file.close()),
        }
      },
    }),
    wrapDatabase(db) {
      databases.push(db)
      return {
        ...db,
        query: (...args) => asked(() => db.query(...args)),
        // One that has begun ends: it might have been a moment earlier.
        transaction: (...args) => asked(() => db.transaction(...args)),
      }
    },
    async bury() {
      if (isDead) await Promise.all(databases.map((db) => db.close()))
      return isDead
    },
  }
}

/** Gives what this test's process has in the database to one that is no more. */
export async function declareDead(db: Database): Promise<void> {
  const columns = await db.query<{ table: string; name: string }>(
    `select c.table_name as table, c.column_name as name from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where table_schema = 'public' and table_type = 'BASE TABLE' and column_name in ('owner', 'lease_owner', 'worker')
       and data_type in ('text', 'character varying')`,
  )
  const identity = processIdentity(process.pid)
  for (const { table, name } of columns) {
    await db.query(`update "${table}" set "${name}" = replace("${name}", $1, '999999999-0') where "${name}" like $2`, [
      identity,
      `%|${identity}|%`,
    ])
  }
}
