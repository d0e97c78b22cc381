// `vireo serve`: starts the server, says where it is, and drains on SIGTERM or Ctrl-C. `vireo stop` ends what a killed one left.

import { join } from 'node:path'
import { startServer } from '../compose.ts'
import type { LoadedConfig } from '../config/index.ts'
import { stopEmbeddedPostgres } from '../platform/embedded-postgres.ts'
import { makeLogger } from '../platform/logger.ts'
import { roles as knownRoles, type Role } from '../runtime-settings.ts'
import { oneOf, type Tools } from './family.ts'
import type { Output } from './output.ts'

export function serverCommands({ program, load, out, env }: Tools): void {
  const role = oneOf(knownRoles)
  program
    .command('serve', { isDefault: true })
    .description('run the server until it is told to end; with --json, each line that it prints is a document')
    .option('--roles <list>', `which parts to run: ${knownRoles.join(', ')}`, (list) => list.split(',').map(role), [
      ...knownRoles,
    ])
    .action(async ({ roles }: { roles: Role[] }) => await serve({ loaded: load(), roles, env, out }))
  program
    .command('stop')
    .description('end the embedded PostgreSQL that a killed server left behind')
    .action(async () => {
      const pid = await stopEmbeddedPostgres({ dataDir: join(load().dataDir, 'postgres') })
      out.answer(
        { pid: pid ?? null },
        pid === undefined ? 'No embedded PostgreSQL runs.' : `Ended the embedded PostgreSQL (pid ${pid}).`,
      )
    })
}

async function serve(options: {
  loaded: LoadedConfig
  roles: readonly Role[]
  env: Record<string, string | undefined>
  out: Output
}): Promise<void> {
  const { loaded, roles, env, out } = options
  const logger = makeLogger({ level: loaded.config.log.level })
  for (const warning of loaded.warnings) out.note(warning)
  const ended = endSignal()
  const rootPassword = env.VIREO_ROOT_PASSWORD ?? env.PT_INITIAL_ROOT_PASSWORD
  const server = await startServer({
    loaded,
    logger,
    roles,
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

  const where = server.address ? `${server.address.hostname}:${server.address.port}` : null
  out.answer(
    { running: { roles, url: server.url, address: server.address } },
    where ? `HTTP server listening on ${where} (${server.url})` : `Running ${roles.join(', ')}`,
  )

  await ended
  logger.info('draining')
  await server.stop()
}

/** Resolves at the first SIGTERM or SIGINT. Draining has a time limit, so that further ones need not be listened to. */
function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve())
  })
}
