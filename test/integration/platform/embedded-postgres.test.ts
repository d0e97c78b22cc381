// The embedded PostgreSQL: first start, later starts, and crashes of the node and the database.

import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { type EmbeddedPostgres, startEmbeddedPostgres, stopEmbeddedPostgres } from '../../../src/platform/embedded-postgres.ts'
import { isAlive, readPostmaster } from '../../../src/platform/embedded-postgres-process.ts'
import { sharedBuffers } from '../../../src/platform/embedded-postgres-server.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { eventually } from '../../support/until.ts'

const MODULES = new URL('../../../src/platform/', import.meta.url).href

describe('the embedded PostgreSQL', () => {
  let folder: string
  let dataDir: string
  const servers: EmbeddedPostgres[] = []
  const children: ChildProcess[] = []

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'vireo-pg-'))
    chmodSync(folder, 0o711)
    dataDir = join(folder, 'postgres')
  })

  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    await Promise.all(servers.splice(0).map((server) => server.stop()))
    await eventually(async () => {
      await stopEmbeddedPostgres({ dataDir })
    })
    rmSync(folder, { recursive: true, force: true })
  })

  const start = async (options: { port?: number; maxConnections?: number } = {}): Promise<EmbeddedPostgres> => {
    const server = await startEmbeddedPostgres({ dataDir, logger: silentLogger, fsync: false, ...options })
    servers.push(server)
    return server
  }

  /** Another process that starts the server, reports it, and waits. */
  const startInChild = async (until: 'ready' | 'spawned' = 'ready'): Promise<{ child: ChildProcess; said: string }> => {
    const script = `import { startEmbeddedPostgres } from '${MODULES}embedded-postgres.ts'
      import { silentLogger } from '${MODULES}logger.ts'
      console.log('going')
      const server = await startEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, logger: silentLogger, fsync: false })
      console.log(server.url)
      process.on('SIGTERM', () => server.stop().then(() => process.exit(0)))
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    children.push(child)
    for await (const line of createInterface({ input: child.stdout })) {
      if (until === 'spawned' || line !== 'going') return { child, said: line }
    }
    throw new Error('The child ended')
  }

  const killGroup = async (child: ChildProcess): Promise<void> => {
    const gone = new Promise((resolve) => child.once('exit', resolve))
    process.kill(-(child.pid ?? 0), 'SIGKILL')
    await gone
  }

  const cluster = () => join(dataDir, 'cluster')
  const serverPid = () => readPostmaster(cluster())?.pid ?? 0

  it('starts without data, and again on the same data, port and password', async () => {
    const first = await start({ maxConnections: 33 })
    expect(first.url.replace(/[0-9a-f]{48}/, 'PASSWORD')).toBe(
      `postgres://postgres:PASSWORD@${encodeURIComponent(cluster())}:${first.port}/vireo`,
    )
    expect(first.reused).toBe(false)
    await query(first.url, 'create table kept (n int)')
    expect(await query(first.url, 'show max_connections')).toBe('33')
    const pid = serverPid()
    await first.stop()
    expect(isAlive(pid)).toBe(false)

    const second = await start()
    expect([second.url, second.reused]).toEqual([first.url, false])
    expect(await query(second.url, 'select count(*)::int from kept')).toBe(0)
  })

  it('gives PostgreSQL a quarter of the memory, within bounds', async () => {
    expect([0.25, 2, 3, 64].map((gib) => sharedBuffers(gib * 2 ** 30))).toEqual([128, 512, 768, 1024])
    const { url } = await start()
    const given = await query(url, `select setting::int / 128 from pg_settings where name = 'shared_buffers'`)
    expect(given).toBeGreaterThanOrEqual(128)
    expect(given).toBe(sharedBuffers(Math.min(process.constrainedMemory() || totalmem(), totalmem())))
  })

  it('listens on a socket, or on TCP if the path is too long for a socket', async () => {
    const near = await start()
    expect(await query(near.url, 'select inet_client_addr()')).toBeNull()
    expect(await query(near.url.replace(/@.*:/, '@127.0.0.1:'), 'select host(inet_client_addr())')).toBe('127.0.0.1')

    dataDir = join(folder, 'far'.repeat(30), 'postgres')
    const far = await start()
    expect(new URL(far.url).hostname).toBe('127.0.0.1')
    expect(await query(far.url, 'select host(inet_client_addr())')).toBe('127.0.0.1')
  })

  it('listens on a socket with any characters in the path', async () => {
    dataDir = join(folder, 'a, "b" %?')
    const { url } = await start()
    expect(await query(url, 'select inet_client_addr()')).toBeNull()
  })

  it('sorts letters beyond ASCII, and has the required extensions', async () => {
    const { url } = await start()
    expect(await query(url, `select lower('ÄÖÉ')`)).toBe('äöé')
    await query(url, 'create extension pg_trgm')
    await query(url, 'create extension unaccent')
    expect(await query(url, 'show timezone')).toBe('UTC')
  })

  it('makes the password readable by its owner only, and requires it', async () => {
    const { url } = await start()
    expect(statSync(join(dataDir, 'password')).mode & 0o777).toBe(0o600)
    expect(statSync(cluster()).mode & 0o777).toBe(0o700)
    expect(statSync(cluster()).uid).not.toBe(0)
    await expect(query(url.replace(/:[0-9a-f]{48}@/, ':wrong@'), 'select 1')).rejects.toThrow('password authentication failed')
    expect(readFileSync(`/proc/${serverPid()}/cmdline`, 'utf8')).not.toContain(new URL(url).password)
  })

  it('is taken over after a kill -9 of the whole process group, and stopped by the new owner', async () => {
    const { child, said } = await startInChild()
    const pid = serverPid()
    await killGroup(child)
    expect(isAlive(pid)).toBe(true)
    const next = await start()
    expect([next.url, next.reused, serverPid()]).toEqual([said, true, pid])
    await next.stop()
    expect(isAlive(pid)).toBe(false)
  })

  it('restarts after kill -9 of the server itself, with all committed data', async () => {
    const { child, said } = await startInChild()
    await query(said, 'create table kept as select 7 as n')
    process.kill(serverPid(), 'SIGKILL')
    await killGroup(child)
    const next = await start()
    expect(next.reused).toBe(false)
    expect(await query(next.url, 'select n from kept')).toBe(7)
  })

  it('ignores a pid file that names an unrelated process', async () => {
    const first = await start()
    await first.stop()
    writeFileSync(join(cluster(), 'postmaster.pid'), `${process.pid}\n${cluster()}\n1700000000\n${first.port}\n\n127.0.0.1\n\nready\n`)
    const next = await start()
    expect(next.reused).toBe(false)
    expect(await query(next.url, 'select 1')).toBe(1)
  })

  it('starts again after a kill -9 during its first start', async () => {
    const { child } = await startInChild('spawned')
    await eventually(() => expect(leftovers(dataDir).some((name) => name.startsWith('cluster.tmp'))).toBe(true))
    await killGroup(child)
    const next = await start()
    expect(await query(next.url, 'select 1')).toBe(1)
    expect(leftovers(dataDir)).toEqual([])
  })

  it('removes the files of an interrupted first start', async () => {
    mkdirSync(join(dataDir, 'cluster.tmp-1', 'base'), { recursive: true })
    writeFileSync(join(dataDir, 'cluster.tmp-1', 'PG_VERSION'), '18\n')
    writeFileSync(join(dataDir, 'pwfile.tmp-1'), 'secret')
    await start()
    expect(leftovers(dataDir)).toEqual([])
  })

  it('is one server for two simultaneous starts, and runs until the last one stops', async () => {
    const [one, two] = await Promise.all([start(), start()])
    expect(one.url).toBe(two.url)
    expect([one.reused, two.reused].sort()).toEqual([false, true])
    const pid = serverPid()
    await one.stop()
    expect(await query(two.url, 'select 1')).toBe(1)
    await two.stop()
    expect(isAlive(pid)).toBe(false)
  })

  it('keeps running for a live process when another one stops', async () => {
    const { child } = await startInChild()
    const mine = await start()
    const pid = serverPid()
    await mine.stop()
    expect(isAlive(pid)).toBe(true)
    await expect(stopEmbeddedPostgres({ dataDir })).rejects.toThrow('is in use')
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('exit', resolve))
    expect(isAlive(pid)).toBe(false)
  })

  it('can be stopped when a killed process left it running', async () => {
    const { child } = await startInChild()
    const pid = serverPid()
    await killGroup(child)
    expect(await stopEmbeddedPostgres({ dataDir })).toBe(pid)
    expect(isAlive(pid)).toBe(false)
    expect(await stopEmbeddedPostgres({ dataDir })).toBeUndefined()
    expect(await stopEmbeddedPostgres({ dataDir: join(folder, 'nothing') })).toBeUndefined()
  })

  it('uses another port if its last one is taken, and fails if the port was configured', async () => {
    const first = await start()
    await first.stop()
    const squatter = createServer().listen(first.port, '127.0.0.1')
    try {
      await new Promise((resolve) => squatter.once('listening', resolve))
      await expect(start({ port: first.port })).rejects.toThrow(`Port ${first.port} on 127.0.0.1 is in use`)
      const second = await start()
      expect(second.port).not.toBe(first.port)
      expect(await query(second.url, 'select 1')).toBe(1)
    } finally {
      squatter.close()
    }
  })

  it('restarts on its port when it dies while in use', async () => {
    const { url } = await start()
    const pid = serverPid()
    process.kill(pid, 'SIGKILL')
    await eventually(async () => expect(await query(url, 'select 1')).toBe(1))
    expect(serverPid()).not.toBe(pid)
  })

  it('names the file to restore when the password is missing', async () => {
    const first = await start()
    await first.stop()
    rmSync(join(dataDir, 'password'))
    await expect(start()).rejects.toThrow(`The password of the database is missing: restore ${join(dataDir, 'password')}`)
  })

  it('explains that the password file does not match the data', async () => {
    const first = await start()
    await first.stop()
    writeFileSync(join(dataDir, 'password'), 'another\n')
    await expect(start()).rejects.toThrow(/does not let us in .*password authentication failed.* is .*password still the one/)
  })
})

function leftovers(dataDir: string): string[] {
  return existsSync(dataDir) ? readdirSync(dataDir).filter((name) => name.includes('.tmp')) : []
}

/** The first column of the first row. */
async function query(url: string, statement: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query<Record<string, unknown>>(statement)
    return Object.values(rows[0] ?? {})[0]
  } finally {
    await client.end()
  }
}
