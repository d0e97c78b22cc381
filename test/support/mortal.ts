// A process that dies at a chosen call of its store: from then on nothing that it asks of the store or of the database answers, so
// that none of its code goes on, neither to clean up nor to tell anybody. What it had written stays.

import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import type { Store } from '../../src/media/index.ts'
import type { Database } from '../../src/platform/database/index.ts'
import { processIdentity } from '../../src/platform/process-identity.ts'

export interface Mortal {
  /** Does `work` as this process. */
  live<T>(work: () => T): T
  wrapStore(store: Store): Store
  wrapDatabase(db: Database): Database
  died: Promise<void>
  /**
   * The moments at which it might have died so far: before and after each call that changes what is stored, save where nothing was
   * written since the moment before. Each is named by the call and the kind of its file.
   */
  moments: string[]
  /** Ends its timers, and closes its files and its connections to the database; false when it lives. */
  bury(): Promise<boolean>
}

/** The timers that a process made, whose code will not end them. */
const timersOf = new AsyncLocalStorage<Set<NodeJS.Timeout>>()
/** Slows down each promise of this worker while it is enabled. */
const timerHook = createHook({
  init(_id, type, _trigger, resource) {
    if (type === 'Timeout') timersOf.getStore()?.add(resource as NodeJS.Timeout)
  },
})

/** Dies at the moment of that number, from 1 on; by default never. */
export function makeMortal(fatal = Number.POSITIVE_INFINITY): Mortal {
  const moments: string[] = []
  const { promise: died, resolve: die } = Promise.withResolvers<void>()
  const databases: Database[] = []
  const timers = new Set<NodeJS.Timeout>()
  const files = new Set<{ close(): Promise<void> }>()
  let isDead = false
  /** Since the last moment. */
  let hasWritten = true

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
    if (isDead || !hasWritten) return
    hasWritten = false
    moments.push(name)
    if (moments.length !== fatal) return
    isDead = true
    die()
  }

  const changing =
    <A extends unknown[], R>(name: string, work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const call = `${name}${kindOf(args[0])}`
      moment(`before ${call}`)
      return await asked(async () => {
        const result = await work(...args)
        hasWritten = true
        moment(`after ${call}`)
        return result
      })
    }
  /** Reads leave what is stored as it is. */
  async function written<T>(work: () => Promise<T>): Promise<T> {
    return await asked(async () => {
      try {
        return await work()
      } finally {
        hasWritten = true
      }
    })
  }

  return {
    moments,
    died,
    live(work) {
      timerHook.enable()
      return timersOf.run(timers, work)
    },
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
        files.add(file)
        return {
          get size() {
            return file.size
          },
          write: (chunk) => asked(() => file.write(chunk)),
          sync: changing('sync', () => file.sync()),
          async close() {
            await asked(() => file.close())
            files.delete(file)
          },
        }
      },
    }),
    wrapDatabase(db) {
      databases.push(db)
      return {
        ...db,
        query: (...args) => (/^\s*select\b/.test(args[0]) ? asked : written)(() => db.query(...args)),
        // One that has begun ends: it might have been a moment earlier.
        transaction: (...args) => written(() => db.transaction(...args)),
      }
    },
    async bury() {
      timerHook.disable()
      if (!isDead) return false
      for (const timer of timers) clearTimeout(timer)
      await Promise.all([...databases, ...files].map((open) => open.close()))
      return true
    },
  }
}

const kindOf = (ref: unknown): string => (typeof ref === 'object' && ref !== null && 'kind' in ref ? ` of ${ref.kind}` : '')

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
