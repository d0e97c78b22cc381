// A remote server that can delay its answers, drop connections, and restart on the same port.

import { createServer, type Server } from 'node:http'
import { freePort } from '../../support/ports.ts'
import { ask } from './child.ts'

export interface Taken {
  type: string
  id: string
  /** Id of the object. */
  object: string
}

type Received = Record<'type' | 'id', string> & { object: string | { id: string } }

export interface Peer {
  /** Types of the activities that it answered with 204, in order. */
  taken: string[]
  /** The same activities, with their ids and objects. */
  activities: Taken[]
  /** Deliveries whose answer is delayed. */
  held: number
  /** While true, all answers are delayed. */
  holding: boolean
  start(): Promise<void>
  /** Drops all connections. */
  stop(): Promise<void>
  /** Makes an actor of this peer a follower of every actor of the node. */
  follows(dataDir: string): Promise<void>
}

export async function makePeer(): Promise<Peer> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  let server: Server | undefined

  const listen = () =>
    createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        if (peer.holding) {
          peer.held += 1
          return
        }
        if (request.method !== 'POST') {
          response.writeHead(404).end()
          return
        }
        const { type, id, object } = JSON.parse(Buffer.concat(parts).toString()) as Received
        peer.taken.push(type)
        peer.activities.push({ type, id, object: typeof object === 'string' ? object : object.id })
        response.writeHead(204).end()
      })
    })

  const peer: Peer = {
    taken: [],
    activities: [],
    held: 0,
    holding: false,
    async start() {
      const started = listen()
      server = started
      await new Promise<void>((resolve) => started.listen(port, '127.0.0.1', resolve))
    },
    async stop() {
      const stopped = server
      server = undefined
      stopped?.closeAllConnections()
      await new Promise<void>((resolve) => (stopped ? stopped.close(() => resolve()) : resolve()))
    },
    async follows(dataDir) {
      await ask(
        dataDir,
        `with host as (insert into remote_host (host) values ($1) returning id),
           follower as (
             insert into actor (type, preferred_username, host_id, url, inbox_url, shared_inbox_url)
             select 'Application', 'peer', id, $2 || '/peer', $2 || '/peer/inbox', $2 || '/inbox' from host returning id)
         insert into follow (follower_id, target_id, state, url)
         select follower.id, target.id, 'accepted', $2 || '/follows/' || target.id
         from follower, actor target where target.host_id is null`,
        [new URL(origin).host, origin],
      )
    },
  }
  return peer
}
