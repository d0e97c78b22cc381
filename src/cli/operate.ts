// Commands that act on the data, beside a running server or without one.

import { type Server, startServer } from '../compose.ts'
import type { LoadedConfig } from '../config/index.ts'
import { makeLogger } from '../platform/logger.ts'

/** Gives `work` the operator's commands on the database of the configuration. Nothing is served meanwhile. */
export async function operate(
  loaded: LoadedConfig,
  work: (operator: Server['operator']) => Promise<void>,
): Promise<void> {
  const server = await startServer({ loaded, logger: makeLogger({ level: 'error' }), roles: [] })
  try {
    await work(server.operator)
  } finally {
    await server.stop()
  }
}
