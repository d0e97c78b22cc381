// Runs commands that act on the data, with or without a running server.

import { type Server, startServer } from '../compose.ts'
import type { LoadedConfig } from '../config/index.ts'
import { type Logger, makeLogger } from '../platform/logger.ts'

/** Runs `work` with the operator's commands on the configured database. Nothing is served meanwhile. */
export async function operate<T>(loaded: LoadedConfig, work: (operator: Server['operator']) => Promise<T>): Promise<T> {
  const server = await startServer({ loaded, logger: commandLogger(), roles: [] })
  try {
    return await work(server.operator)
  } finally {
    await server.stop()
  }
}

/** Standard output is for the result. */
export const commandLogger = (): Logger => makeLogger({ level: 'error', destination: process.stderr })
