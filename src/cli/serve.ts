// `vireo serve`: starts the server, says where it is, and drains on SIGTERM or Ctrl-C.

import { startServer } from '../compose.ts'
import type { LoadedConfig } from '../config/index.ts'
import { makeLogger } from '../platform/logger.ts'
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

/** Resolves at the first SIGTERM or SIGINT. Draining has a time limit, so that further ones need not be listened to. */
function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve())
  })
}
