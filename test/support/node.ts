// A whole server in the test process, with its own database and data folder, on a free port of loopback.

import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Server, type ServerOptions, startServer } from '../../src/compose.ts'
import { merge, type Values } from '../../src/config/layers.ts'
import { openStore } from '../../src/connections.ts'
import type { Ffmpeg, FileKind } from '../../src/media/index.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { roles } from '../../src/runtime-settings.ts'
import { testLoadedConfig } from './config.ts'
import { fastPasswords, generateKeys } from './fast-crypto.ts'
import { serverFfmpeg } from './media.ts'
import { freePort } from './ports.ts'
import { freshDatabase, run } from './postgres.ts'
import { everythingIn, startS3 } from './s3.ts'
import { inObjectStorage } from './test-store.ts'

export interface TestNode {
  base: string
  username: string
  password: string
  dataDir: string
  databaseUrl: string
  /** Its storage configuration. */
  storage: Values
  /** Released by `stop`, so that test workers do not retain the servers of earlier files. */
  readonly server: Server
  /** Restarts it as if much time had passed: all periodic work is due. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const PASSWORD = 'test-password'

/** Starts a node that may reach peers on loopback over plain HTTP, without rate limits. */
export async function startTestNode(
  options: {
    config?: Values
    /** Another process of the same server: same database, folder and public address. Stop it before the first one. */
    beside?: TestNode
    ffmpeg?: Ffmpeg
  } & Partial<Pick<ServerOptions, 'examine' | 'roles' | 'onRoute' | 'clock' | 'logger' | 'checkResponses'>> = {},
): Promise<TestNode> {
  const { beside } = options
  const database = beside ? { url: beside.databaseUrl, drop: async () => {} } : await freshDatabase({ plansOnce: true })
  const dataDir = beside?.dataDir ?? (await mkdtemp(join(tmpdir(), 'vireo-node-')))
  if (!beside) await chmod(dataDir, 0o711)
  const s3 = inObjectStorage && !beside ? await startS3() : undefined
  const storage = beside?.storage ?? (s3 ? everythingIn(s3.endpoint) : {})
  const port = await freePort()
  const passwords = fastPasswords()
  const start = async () =>
    startServer({
      loaded: testLoadedConfig(
        {
          listen: { port },
          webserver: { hostname: '127.0.0.1', port: Number(new URL(beside?.base ?? `http://x:${port}`).port) },
          ...merge(storage, options.config ?? {}),
        },
        { dataDir, env: { DATABASE_URL: database.url } },
      ),
      logger: options.logger ?? silentLogger,
      ...(options.clock ? { clock: options.clock } : {}),
      roles: options.roles ?? [...roles],
      ...(options.onRoute ? { onRoute: options.onRoute } : {}),
      rootPassword: PASSWORD,
      examine: options.examine ?? (async () => []),
      instead: { generateKeys, passwords, ffmpeg: options.ffmpeg ?? (await serverFfmpeg()) },
      checkResponses: options.checkResponses ?? true,
    })

  let server: Server | undefined = await start()
  const running = (): Server => {
    if (!server) throw new Error('The node was stopped.')
    return server
  }
  return {
    base: `http://127.0.0.1:${port}`,
    username: 'root',
    password: PASSWORD,
    dataDir,
    databaseUrl: database.url,
    storage,
    get server() {
      return running()
    },
    async restart() {
      await running().stop()
      await run(database.url, 'update periodic_task set due_at = now()')
      server = await start()
    },
    async stop() {
      await server?.stop()
      server = undefined
      await database.drop()
      await s3?.stop()
      if (!beside) await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Names of the stored files of a kind, in any store. */
export async function storedNames(node: TestNode, kind: FileKind): Promise<string[]> {
  const { store, objects } = openStore(testLoadedConfig(node.storage, { dataDir: node.dataDir }).config, 'test')
  try {
    return (await Array.fromAsync(store.list(kind))).map(({ name }) => name)
  } finally {
    await objects?.close()
  }
}
