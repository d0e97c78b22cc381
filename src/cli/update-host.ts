// `vireo update-host`: rewrites the data after a permanent change of the public address.

import { type HostChange, type HostPreview, makeHostRewrite } from '../actors/host-change/index.ts'
import type { LoadedConfig } from '../config/index.ts'
import { redisAddress, withTls } from '../connections.ts'
import { makeQueue, type QueueBackEnd } from '../platform/queue/index.ts'
import type { Tools } from './family.ts'
import { withDatabase } from './migrate.ts'
import { commandLogger, operate } from './operate.ts'

/** Shown to the operator before it starts. */
const WARNING = [
  'An address is who an actor is: other servers take the new one for another server. Followers on other servers are lost and have',
  'to follow again; their copies of local content stay under the old addresses. Follows of others are requested again.',
  'Make a backup first, and keep redirects from the old address as long as you can.',
]

export function updateHostCommands({ program, load, out }: Tools): void {
  program
    .command('update-host')
    .description('after a permanent change of `webserver`: rewrite the addresses of this server; a preview unless --apply is given')
    .option('--apply', 'rewrite them, after a confirmation. No server may run. An interrupted run can be repeated')
    .option('--yes', 'do not ask')
    .option('--even-if-used', 'continue although something else is connected to the database, such as a connection pooler')
    .action(async (options: { apply?: boolean; yes?: boolean; evenIfUsed?: boolean }) => {
      if (options.apply && !options.yes) out.assertCanAsk()
      const loaded = load()
      const found = await withDatabase(loaded, async (db) => {
        const rewrite = makeHostRewrite({ db })
        const change = await rewrite.find(loaded.publicUrl)
        if (!change) return undefined
        await db.assertMigrated()
        const isSure = options.apply === true && options.yes === true
        const preview = isSure ? undefined : await rewrite.preview(change)
        if (!options.apply) return { change, preview }
        if (preview) for (const line of linesOf(change, preview)) out.note(line)
        if (!isSure && !(await out.confirm('Rewrite them?'))) return { change, preview }
        const progress = out.progress('Pages of the database')
        try {
          const { rows } = await rewrite.rewrite(change, {
            evenIfUsed: options.evenIfUsed ?? false,
            onProgress: progress.at,
          })
          return { change, rows }
        } finally {
          progress.end()
        }
      })
      if (!found) {
        return out.answer({ change: null }, `The data is that of ${loaded.publicUrl} already.`)
      }
      const { change, preview, rows } = found
      if (rows === undefined) {
        return out.answer({ change, applied: false, ...preview }, [
          ...(preview ? linesOf(change, preview) : []),
          'Nothing was changed. Rewrite them with --apply.',
        ])
      }
      const asked = await goOn(loaded, change)
      out.answer({ change, applied: true, rows, ...asked }, [
        `The data of ${change.from} is that of ${change.to} now: ${rows} rows were rewritten.`,
        `When the server runs it renews the torrents of ${asked.videos} videos and asks for ${asked.follows} follows again.`,
      ])
    })

  /** The steps that need the server's parts, with the new address. */
  async function goOn(loaded: LoadedConfig, change: HostChange) {
    await forgetQueue(loaded, change)
    const progress = out.progress('Videos whose torrents are to be renewed')
    try {
      const asked = await operate(loaded, (operator) => operator.afterHostChange(progress.at))
      await withDatabase(loaded, (db) => makeHostRewrite({ db }).finish())
      return asked
    } finally {
      progress.end()
    }
  }
}

/** The queue's keys depend on the address; the database knows what waited in it. */
async function forgetQueue(loaded: LoadedConfig, { from }: HostChange): Promise<void> {
  const { hostname, port, protocol } = new URL(from)
  const prefix = `vireo-${hostname}-${port || (protocol === 'https:' ? 443 : 80)}`
  const wipe = async (backend: QueueBackEnd): Promise<void> => {
    const queue = await makeQueue({ backend, prefix, logger: commandLogger() })
    try {
      await queue.wipe()
    } finally {
      await queue.close()
    }
  }
  if (loaded.redis) return await wipe({ kind: 'redis', redis: redisAddress(loaded.redis) })
  await withDatabase(loaded, async (_db, connection) =>
    wipe({ kind: 'postgres', connectionString: withTls(connection.url, connection), schema: 'bullmq', poolMax: 1 }),
  )
}

const linesOf = ({ from, to }: HostChange, { columns, deliveries, followers, follows }: HostPreview): string[] => [
  `From ${from} to ${to}:`,
  ...columns.map(({ column, rows }) => `  ${column}: ${rows} rows`),
  `  ${deliveries} queued deliveries are dropped, ${followers} followers are lost, ${follows} follows are requested again.`,
  ...WARNING,
]
