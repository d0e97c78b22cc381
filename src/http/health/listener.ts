// A separate listener for monitoring: the health of this process, and its metrics if they are exported. It responds from the start of the
// process to its end, also without the role `web`.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Health } from '../../platform/health.ts'
import { type ConfigKeys, type Listening, listenError } from '../server.ts'
import { answerReady, LIVE, LIVE_PATH, READY_PATH } from './answers.ts'

/** In the text format of Prometheus. */
export interface Figures {
  contentType: string
  text(): Promise<string>
}

interface Answer {
  code: number
  type: string
  body: string
}

/** Starts listening. Throws ListenError if the address cannot be used. */
export async function listenBeside(options: {
  hostname: string
  port: number
  /** Keys of the address, for the error. */
  keys: ConfigKeys
  health: Pick<Health, 'readiness'>
  figures: Figures | undefined
}): Promise<Listening> {
  const { hostname, port, keys, health, figures } = options

  const paths: Record<string, () => Promise<Answer>> = {
    [LIVE_PATH]: async () => json(200, LIVE),
    [READY_PATH]: async () => {
      const { code, body } = await answerReady(health)
      return json(code, body)
    },
  }
  if (figures) {
    paths['/metrics'] = async () => ({ code: 200, type: figures.contentType, body: await figures.text() })
  }

  async function answer({ method, url = '/' }: IncomingMessage): Promise<Answer> {
    const path = url.split('?')[0] ?? '/'
    const found = Object.hasOwn(paths, path) ? paths[path] : undefined
    if (!found) return plain(404, 'There is nothing here.')
    return method === 'GET' || method === 'HEAD' ? await found() : plain(405, 'This can only be read.')
  }

  const server = createServer((request, response) => {
    // Bodies are ignored.
    request.resume()
    answer(request)
      .catch(() => plain(500, 'The health of the server is not known now.'))
      .then((given) => send(response, given))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, { hostname, port, keys })))
    server.listen({ host: hostname, port }, resolve)
  })
  return {
    hostname,
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function send(response: ServerResponse, { code, type, body }: Answer): void {
  response.writeHead(code, { 'content-type': type, 'content-length': Buffer.byteLength(body), 'cache-control': 'no-store' }).end(body)
}

const json = (code: number, body: object): Answer => ({
  code,
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(body),
})
const plain = (code: number, body: string): Answer => ({ code, type: 'text/plain; charset=utf-8', body })
