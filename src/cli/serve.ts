// `vireo serve`: starts the server, says where it is, and drains on SIGTERM or Ctrl-C.

import { startServer } from '../compose.ts'
import type { LoadedConfig } from '../config/index.ts'
import { type Logger, makeLogger } from '../platform/logger.ts'
import type { Role } from '../runtime-settings.ts'

export async function serve(options: {
  loaded: LoadedConfig
  roles: readonly Role[]
  env: Record<string, string | undefined>
}): Promise<number> {
  const { loaded, roles, env } = options
  const logger = makeLogger({ level: loaded.config.log.level })
  for (const warning of loaded.warnings) console.warn(warning)
  const ended = endSignal()
  void ended.then(() => endInTime({ ...loaded.config.vireo, logger }))
  const rootPassword = env.VIREO_ROOT_PASSWORD ?? env.PT_INITIAL_ROOT_PASSWORD
  const server = await startServer({
    loaded,
    logger,
    roles,
    ...(rootPassword ? { rootPassword } : {}),
    onFirstStart: ({ clientId, clientSecret, username, password }) => {
      console.log(`Client id: ${clientId}`)
      console.log(`Client secret: ${clientSecret}`)
      console.log(`Username: ${username}`)
      console.log(`User password: ${password}`)
    },
  })

  const where = server.address ? `${server.address.hostname}:${server.address.port}` : null
  console.log(where ? `HTTP server listening on ${where} (${server.url})` : `Running ${roles.join(', ')}`)

  await ended
  logger.info('draining')
  await server.stop()
  return 0
}

/** Whatever does not end by itself is ended, as if it had crashed: the next start goes on with what it had in hand. */
function endInTime(options: {
  http: { drain_delay: number }
  runtime: { stop_timeout: number }
  logger: Logger
}): void {
  const { http, runtime, logger } = options
  setTimeout(() => {
    logger.error('the server did not end in time')
    process.exit(1)
  }, http.drain_delay + runtime.stop_timeout).unref()
}

/** Resolves at the first SIGTERM or SIGINT. Draining has a time limit, so that further ones need not be listened to. */
function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve())
  })
}
