// `vireo serve`: starts the server, prints its address, and drains on SIGTERM or Ctrl-C. `vireo stop` ends what a killed server left.

import { join } from 'node:path'
import { startServer } from '../compose.ts'
import type { LoadedConfig } from '../config/index.ts'
import { stopEmbeddedPostgres } from '../platform/embedded-postgres.ts'
import { openLogFiles } from '../platform/log-files/index.ts'
import { type Logger, makeLogger, standardOutputAnd } from '../platform/logger.ts'
import { releaseStartupMemory } from '../platform/startup-memory.ts'
import { roles as knownRoles, type Role } from '../runtime-settings.ts'
import { makeExamine } from './examine.ts'
import { type CliContext, oneOf, type Tools } from './family.ts'
import type { Output } from './output.ts'

export function serverCommands({ program, load, out, env, cwd }: Tools): void {
  const role = oneOf(knownRoles)
  program
    .command('serve', { isDefault: true })
    .description('run the server until it gets a signal to end; with --json, each line that it prints is a document')
    .option('--roles <list>', `which parts to run: ${knownRoles.join(', ')}`, (list) => list.split(',').map(role), [...knownRoles])
    .action(
      async ({ roles }: { roles: Role[] }) =>
        await serve({ loaded: load(), files: program.opts<{ config: string[] }>().config, roles, env, cwd, out }),
    )
  program
    .command('stop')
    .description('end the embedded PostgreSQL that a killed server left behind')
    .action(async () => {
      const pid = await stopEmbeddedPostgres({ dataDir: join(load().dataDir, 'postgres') })
      out.answer({ pid: pid ?? null }, pid === undefined ? 'No embedded PostgreSQL runs.' : `Ended the embedded PostgreSQL (pid ${pid}).`)
    })
}

interface ServeOptions extends CliContext {
  loaded: LoadedConfig
  files: readonly string[]
  roles: readonly Role[]
  out: Output
}

async function serve(options: ServeOptions): Promise<void> {
  const { log, storage } = options.loaded.config
  const { enabled, max_file_size, max_files } = log.rotation
  const output = makeLogger({ level: log.level })
  const files = openLogFiles({
    directory: storage.logs,
    kind: options.roles.join('+'),
    rotation: enabled ? { maxFileSize: max_file_size, maxFiles: max_files } : null,
    warn: (message, error) => output.warn({ err: error, folder: storage.logs }, message),
  })
  try {
    await run(options, makeLogger({ level: log.level, destination: standardOutputAnd(files) }))
  } finally {
    await files.close()
  }
}

async function run(options: ServeOptions, logger: Logger): Promise<void> {
  const { loaded, roles, env, out } = options
  for (const warning of loaded.warnings) out.note(warning)
  const ended = endSignal()
  void ended.then(() => endInTime({ ...loaded.config.vireo, logger }))
  const rootPassword = env.VIREO_ROOT_PASSWORD ?? env.PT_INITIAL_ROOT_PASSWORD
  const server = await startServer({
    loaded,
    logger,
    roles,
    examine: makeExamine(options),
    ...(rootPassword ? { rootPassword } : {}),
    onFirstStart: (credentials) => {
      const { clientId, clientSecret, username, password } = credentials
      out.answer({ firstStart: credentials }, [
        `Client id: ${clientId}`,
        `Client secret: ${clientSecret}`,
        `Username: ${username}`,
        `User password: ${password}`,
      ])
    },
  })
  releaseStartupMemory()

  const where = server.address ? `${server.address.hostname}:${server.address.port}` : null
  out.answer(
    { running: { roles, url: server.url, address: server.address } },
    where ? `HTTP server listening on ${where} (${server.url})` : `Running ${roles.join(', ')}`,
  )

  await ended
  logger.info('draining')
  await server.stop()
}

/** Forces the end of the process after the timeouts, like a crash: the next start resumes its work. */
function endInTime(options: { http: { drain_delay: number }; runtime: { stop_timeout: number }; logger: Logger }): void {
  const { http, runtime, logger } = options
  setTimeout(() => {
    logger.error('the server did not end in time')
    process.exit(1)
  }, http.drain_delay + runtime.stop_timeout).unref()
}

/** Resolves at the first SIGTERM or SIGINT. Draining has a time limit, so that further signals can be ignored. */
function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve())
  })
}
