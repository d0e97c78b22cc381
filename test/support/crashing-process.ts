// Simulates a process that crashes at a chosen call of its store. From then on no call of the store or the database returns, so none of
// its code continues, not even to clean up. What it has written stays.

import { AsyncLocalStorage, createHook } from 'node:async_hooks'
import type { Store } from '../../src/media/index.ts'
import type { Database } from '../../src/platform/database/index.ts'
import { processIdentity } from '../../src/platform/process-identity.ts'

export interface CrashingProcess {
  /** Runs `work` in this process. */
  run<T>(work: () => T): T
  wrapStore(store: Store): Store
  wrapDatabase(db: Database): Database
  crashed: Promise<void>
  /**
   * The points at which it could have crashed so far: before and after each call that writes to the store, except where nothing was
   * written since the previous point. The name of a point is the call and the kind of its file.
   */
  crashPoints: string[]
  /** Clears its timers, and closes its files and database connections. Returns false if it has not crashed. */
  cleanUp(): Promise<boolean>
}

/** Timers of a process, which its own code will not clear after a crash. */
const timersOf = new AsyncLocalStorage<Set<NodeJS.Timeout>>()
/** While enabled, it slows down every promise of this test worker. */
const timerHook = createHook({
  init(_id, type, _trigger, resource) {
    if (type === 'Timeout') timersOf.getStore()?.add(resource as NodeJS.Timeout)
  },
})

/** Crashes at the crash point of this number, counted from 1; never by default. */
export function makeCrashingProcess(fatal = Number.POSITIVE_INFINITY): CrashingProcess {
  const crashPoints: string[] = []
  const { promise: crashed, resolve: crash } = Promise.withResolvers<void>()
  const databases: Database[] = []
  const timers = new Set<NodeJS.Timeout>()
  const files = new Set<{ close(): Promise<void> }>()
  let hasCrashed = false
  /** Since the last crash point. */
  let hasWritten = true

  const hang = <T>(): Promise<T> => new Promise<T>(() => undefined)

  async function unlessCrashed<T>(work: () => Promise<T>): Promise<T> {
    if (hasCrashed) return await hang()
    try {
      const result = await work()
      return hasCrashed ? await hang<T>() : result
    } catch (error) {
      if (hasCrashed) return await hang()
      throw error
    }
  }

  function crashPoint(name: string): void {
    if (hasCrashed || !hasWritten) return
    hasWritten = false
    crashPoints.push(name)
    if (crashPoints.length !== fatal) return
    hasCrashed = true
    crash()
  }

  const mutating =
    <A extends unknown[], R>(name: string, work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const call = `${name}${kindOf(args[0])}`
      crashPoint(`before ${call}`)
      return await unlessCrashed(async () => {
        const result = await work(...args)
        hasWritten = true
        crashPoint(`after ${call}`)
        return result
      })
    }
  /** Reads need no crash point. */
  async function writing<T>(work: () => Promise<T>): Promise<T> {
    return await unlessCrashed(async () => {
      try {
        return await work()
      } finally {
        hasWritten = true
      }
    })
  }

  return {
    crashPoints,
    crashed,
    run(work) {
      timerHook.enable()
      return timersOf.run(timers, work)
    },
    wrapStore: (store) => ({
      ...store,
      put: mutating('put', store.put),
      remove: mutating('remove', store.remove),
      removeFolder: mutating('removeFolder', store.removeFolder),
      move: mutating('move', store.move),
      moveFolder: mutating('moveFolder', store.moveFolder),
      workFolder: mutating('workFolder', store.workFolder),
      removeWorkFolder: mutating('removeWorkFolder', store.removeWorkFolder),
      open: (...args) => unlessCrashed(() => store.open(...args)),
      stat: (ref) => unlessCrashed(() => store.stat(ref)),
      placeOf: (ref) => unlessCrashed(() => store.placeOf(ref)),
      withLocalPath: (...args) => unlessCrashed(() => store.withLocalPath(...args)),
      async openAppend(name, offset) {
        const file = await unlessCrashed(() => store.openAppend(name, offset))
        files.add(file)
        return {
          get size() {
            return file.size
          },
          write: (chunk) => unlessCrashed(() => file.write(chunk)),
          sync: mutating('sync', () => file.sync()),
          async close() {
            await unlessCrashed(() => file.close())
            files.delete(file)
          },
        }
      },
    }),
    wrapDatabase(db) {
      databases.push(db)
      return {
        ...db,
        query: (...args) => (/^\s*select\b/.test(args[0]) ? unlessCrashed : writing)(() => db.query(...args)),
        // A transaction that has begun completes, as if the crash came later.
        transaction: (...args) => writing(() => db.transaction(...args)),
      }
    },
    async cleanUp() {
      timerHook.disable()
      if (!hasCrashed) return false
      for (const timer of timers) clearTimeout(timer)
      await Promise.all([...databases, ...files].map((open) => open.close()))
      return true
    },
  }
}

const kindOf = (ref: unknown): string => (typeof ref === 'object' && ref !== null && 'kind' in ref ? ` of ${ref.kind}` : '')

/** Assigns the leases of this test's process to a process that does not exist. */
export async function abandonLeases(db: Database): Promise<void> {
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
