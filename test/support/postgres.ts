// Databases for tests: each is a copy of the template, on the server that setup.ts started.

import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import pg from 'pg'

export interface TestDatabase {
  url: string
  /** Drops the database, and closes remaining connections to it. */
  drop(): Promise<void>
}

/**
 * A new database: a copy of the prepared template, or an empty one with `{ empty: true }`. With `{ plansOnce: true }` each connection plans a
 * statement once, for any values; otherwise PostgreSQL plans at least five executions for their values. On small tables that costs more
 * than the executions.
 */
export async function freshDatabase(options: { empty?: boolean; plansOnce?: boolean } = {}): Promise<TestDatabase> {
  const admin = process.env.VIREO_TEST_POSTGRES_URL
  if (!admin) throw new Error('VIREO_TEST_POSTGRES_URL is not set: tests run through Jest, whose setup starts PostgreSQL')
  const name = `test_${randomBytes(8).toString('hex')}`
  await createDatabase(admin, name, options.empty ? undefined : process.env.VIREO_TEST_TEMPLATE)
  if (options.plansOnce) await run(admin, `alter database ${name} set plan_cache_mode = force_generic_plan`)
  return {
    url: withDatabase(admin, name),
    async drop() {
      await run(admin, `drop database if exists ${name} with (force)`)
    },
  }
}

export async function createDatabase(admin: string, name: string, template?: string): Promise<void> {
  await run(admin, `create database ${name}${template ? ` template ${template} strategy file_copy` : ''}`)
}

/**
 * A test run connects ten thousand times: the password is sent in plain text, without the rounds and hashes that protect it on a network.
 */
export async function makeLoginCheap(admin: string): Promise<void> {
  const { username, password } = new URL(admin)
  await run(admin, `set scram_iterations = 1; alter role ${username} password '${decodeURIComponent(password)}'`)
  const [{ file } = { file: '' }] = await run<{ file: string }>(admin, `select current_setting('hba_file') as file`)
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll(/\bscram-sha-256$/gm, 'password'))
  await run(admin, 'select pg_reload_conf()')
}

/** Another database of the same server. */
export function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

/** Runs statements on a new connection. */
export async function run<R extends object>(url: string, statement: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<R>(statement)).rows
  } finally {
    await client.end()
  }
}
