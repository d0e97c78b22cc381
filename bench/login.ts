// Logins on 20 connections, each with a slow password hash, together with the request that every client sends: the hashes may not block
// the event loop, or all processors.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, type NodeProcess, startNode } from '../scripts/demo/node-process.ts'
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres.ts'
import { silentLogger } from '../src/platform/logger.ts'
import { type Load, makeLoadGenerator, type Target } from './load.ts'
import { printTable, verdict } from './table.ts'

const LOGINS = 20
const READERS = 4
const MS = 8_000
const WARM_UP_MS = 1_000
const MAX_P99_MS = 50

const CONFIG: Target = { path: '/api/v1/config', headers: {} }

export async function benchLogin(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-bench-login-'))
  await chmod(folder, 0o711)
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    logger: silentLogger,
    fsync: false,
  })
  try {
    const node = await startNode({
      dataDir: join(folder, 'node'),
      port: await freePort(),
      env: { DATABASE_URL: postgres.url, ...UNLIMITED },
    })
    try {
      await measure(node)
    } finally {
      await node.stop()
    }
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const UNLIMITED = {
  VIREO__RATES_LIMIT__API__MAX: '100000000',
  VIREO__RATES_LIMIT__LOGIN__MAX: '100000000',
}

async function measure(node: NodeProcess): Promise<void> {
  const readers = makeLoadGenerator({ origin: node.base, connections: READERS })
  const logins = makeLoadGenerator({ origin: node.base, connections: LOGINS })
  try {
    const login = await loginTarget(node)
    await readers.run(CONFIG, WARM_UP_MS)
    const alone = await readers.run(CONFIG, MS)
    await logins.run(login, WARM_UP_MS)
    const [beside, loggedIn] = await Promise.all([readers.run(CONFIG, MS), logins.run(login, MS)])
    console.log(`\n${LOGINS} connections log in, ${READERS} read`)
    printTable(
      ['request', 'req/s', 'p50 ms', 'p99 ms'],
      [rowOf('GET /config alone', alone), rowOf('GET /config beside logins', beside), rowOf('POST /users/token', loggedIn)],
    )
    verdict('p99 of GET /config beside logins', beside.p99, MAX_P99_MS, ' ms')
  } finally {
    await Promise.all([readers.close(), logins.close()])
  }
}

/** A login request with the administrator's password. */
export async function loginTarget({ base, username, password }: NodeProcess): Promise<Target> {
  const answer = await fetch(`${base}/api/v1/oauth-clients/local`)
  const client = (await answer.json()) as { client_id: string; client_secret: string }
  return {
    path: '/api/v1/users/token',
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...client, grant_type: 'password', username, password }).toString(),
  }
}

const rowOf = (name: string, { rate, p50, p99 }: Load): string[] => [name, rate.toFixed(0), p50.toFixed(1), p99.toFixed(1)]
