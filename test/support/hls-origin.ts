// A server on loopback with one small HLS video; tests can override its answers.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { JsonObject } from './fake-peer.ts'

export interface HlsOrigin {
  base: string
  /** Requested paths. */
  requested: string[]
  /** Links of a video document to the playlist and to one web video. */
  links: JsonObject[]
  /** Overrides the answer of a path; undefined restores the default. */
  answer(path: string, by: ((response: ServerResponse) => void) | undefined): void
  close(): Promise<void>
}

export const HLS_BYTES = Buffer.alloc(300_000, 'hls')
const WEB_BYTES = Buffer.alloc(50_000, 'web')
const MASTER = '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n240.m3u8\n'
const MEDIA = `#EXTM3U
#EXT-X-TARGETDURATION:4
#EXT-X-MAP:URI="240-fragmented.mp4",BYTERANGE="1000@0"
#EXTINF:4,
#EXT-X-BYTERANGE:${HLS_BYTES.length - 1000}@1000
240-fragmented.mp4
#EXT-X-ENDLIST
`

export async function startHlsOrigin(): Promise<HlsOrigin> {
  const usual = new Map<string, string | Buffer>([
    ['/master.m3u8', MASTER],
    ['/240.m3u8', MEDIA],
    ['/240-fragmented.mp4', HLS_BYTES],
    ['/web-240.mp4', WEB_BYTES],
  ])
  const bent = new Map<string, (response: ServerResponse) => void>()
  const requested: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    requested.push(path)
    const by = bent.get(path)
    const bytes = usual.get(path)
    if (by) by(response)
    else if (bytes === undefined) response.writeHead(404).end()
    else response.end(bytes)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const file = (href: string, size: number): JsonObject => ({
    type: 'Link',
    mediaType: 'video/mp4',
    href,
    height: 240,
    width: 320,
    size,
    fps: 25,
  })
  return {
    base,
    requested,
    links: [
      file(`${base}/web-240.mp4`, WEB_BYTES.length),
      {
        type: 'Link',
        mediaType: 'application/x-mpegURL',
        href: `${base}/master.m3u8`,
        tag: [file(`${base}/240-fragmented.mp4`, HLS_BYTES.length)],
      },
    ],
    answer(path, by) {
      if (by) bent.set(path, by)
      else bent.delete(path)
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
