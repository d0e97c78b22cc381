// The namespace `/runners`: tells runners that there are jobs, so that they ask at once. A runner authenticates with its token.

import type { Socket } from 'socket.io'
import type { Logger } from '../../platform/logger.ts'
import { makePlaces } from './connection-slots.ts'
import { Refused, type SocketNamespace } from './namespaces.ts'

export interface RunnerSocketsDeps {
  /** The id of the runner with this token; undefined if there is none. */
  find(runnerToken: string): Promise<number | undefined>
  /** Those of the runners that are still registered. */
  present(ids: readonly number[]): Promise<number[]>
  /** Subscribes to jobs that become available; returns the function that unsubscribes. */
  subscribe(listener: () => void): () => void
  logger: Logger
}

const MAX_TOKEN = 1000
const MAX_OF_A_RUNNER = 10
/** Many jobs that become available together are one event. */
const GATHERED_MS = 200

export function makeRunnerSockets({ find, present, subscribe, logger }: RunnerSocketsDeps): SocketNamespace {
  const sockets = new Map<Socket, number>()
  const admitted = new WeakMap<Socket, number>()
  const places = makePlaces<number>({ mostOfOne: MAX_OF_A_RUNNER })
  let timer: NodeJS.Timeout | undefined

  const unsubscribe = subscribe(() => {
    if (sockets.size === 0 || timer) return
    timer = setTimeout(() => {
      timer = undefined
      announce().catch((error: unknown) => logger.warn({ err: error }, 'runners could not be told of jobs'))
    }, GATHERED_MS)
  })

  async function announce(): Promise<void> {
    const known = new Set(await present([...new Set(sockets.values())]))
    for (const [socket, id] of sockets) {
      if (known.has(id)) socket.emit('available-jobs')
      else socket.disconnect()
    }
  }

  return {
    name: '/runners',
    count: () => sockets.size,
    async admit(socket) {
      const { runnerToken } = socket.handshake.auth
      const isToken = typeof runnerToken === 'string' && runnerToken !== '' && runnerToken.length <= MAX_TOKEN
      const id = isToken ? await find(runnerToken) : undefined
      if (id === undefined) throw new Refused('Unknown runner token')
      if (!places.hasPlace(id)) throw new Refused('There are too many connections.')
      admitted.set(socket, id)
    },
    joined(socket) {
      const id = admitted.get(socket)
      if (id === undefined) return void socket.disconnect()
      const leave = places.take(id)
      sockets.set(socket, id)
      socket.once('disconnect', () => {
        leave()
        sockets.delete(socket)
      })
      // Clients must not send anything here.
      socket.onAny(() => socket.disconnect())
    },
    close() {
      clearTimeout(timer)
      unsubscribe()
    },
  }
}
