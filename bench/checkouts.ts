// Servers of this checkout and of the one in VIREO_BENCH_AGAINST (a folder with its node_modules), with separate databases on one
// PostgreSQL.

import { join } from 'node:path'
import { freePort, type NodeProcess, startNode } from '../scripts/demo/node-process.ts'
import { withDatabase } from './federation/peers.ts'

export interface Checkout {
  /** `now` or `before`. */
  name: string
  node: NodeProcess
  databaseUrl: string
}

export async function startCheckouts(options: { folder: string; databaseUrl: string; env: Record<string, string> }): Promise<Checkout[]> {
  const { folder, databaseUrl, env } = options
  const against = process.env.VIREO_BENCH_AGAINST
  const started: Checkout[] = []
  for (const { name, ...root } of [{ name: 'now' }, ...(against ? [{ name: 'before', root: against }] : [])]) {
    await withDatabase(databaseUrl, (client) => client.query(`create database ${name}`))
    const database = new URL(databaseUrl)
    database.pathname = `/${name}`
    const node = await startNode({
      dataDir: join(folder, name),
      port: await freePort(),
      ...root,
      env: { DATABASE_URL: database.href, VIREO__DATABASE__POOL__MAX: '20', ...UNLIMITED, ...env },
    })
    started.push({ name, node, databaseUrl: database.href })
  }
  return started
}

/** No rate limits. */
const UNLIMITED = {
  VIREO__RATES_LIMIT__API__MAX: '100000000',
  VIREO__RATES_LIMIT__LOGIN__MAX: '100000000',
  VIREO__RATES_LIMIT__CLIENT__MAX: '100000000',
}
