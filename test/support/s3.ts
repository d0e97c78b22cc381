// Object storage in the test process: an S3 server with its buckets in a folder, on a free port of loopback.

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from 's3rver'
import { listFiles } from './list-files.ts'
import { makeMultipart } from './s3-multipart.ts'

export interface TestS3 {
  endpoint: string
  /** The names of all objects in a bucket. */
  keys(bucket: string): Promise<string[]>
  /** Remains of a bucket's incomplete multipart uploads. */
  parts(bucket: string): Promise<string[]>
  /** Requests that match, by method and path, are answered with 500; undefined ends it. */
  break(matches: ((request: { method: string; path: string }) => boolean) | undefined): void
  /** Drops the connection of each matching request after this many bytes of the response body, by default the first. */
  cut(matches: ((request: { method: string; path: string }) => boolean) | undefined, after?: number): void
  /** While true, requests are read but not answered. */
  silence(isSilent: boolean): void
  /** Methods and paths of the received requests. */
  requests: string[]
  /** Headers of the received requests. */
  headers: IncomingHttpHeaders[]
  stop(): Promise<void>
}

/** The buckets of the configuration, and one for all other kinds. */
export const BUCKETS = ['web-videos', 'streaming-playlists', 'original-video-files', 'captions', 'user-exports', 'others']

/** CORS for players of other sites, as docs/object-storage.md says. */
const CORS = `<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>
  <AllowedMethod>HEAD</AllowedMethod><AllowedHeader>*</AllowedHeader></CORSRule></CORSConfiguration>`

export async function startS3(): Promise<TestS3> {
  const directory = await mkdtemp(join(tmpdir(), 'vireo-s3-'))
  const s3 = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    allowMismatchedSignatures: true,
    configureBuckets: BUCKETS.map((name) => ({ name, configs: [CORS] })),
  })
  const { port } = await s3.run()
  const multipart = makeMultipart({ directory, base: `http://127.0.0.1:${port}` })
  let isBroken: Parameters<TestS3['break']>[0]
  let isCut: Parameters<TestS3['cut']>[0]
  let cutAfter = 1
  let isSilent = false
  const requests: string[] = []
  const received: IncomingHttpHeaders[] = []
  const front = createServer(async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming
    requests.push(`${method} ${url}`)
    received.push(headers)
    if (isSilent) return void incoming.resume()
    // Clients set their clock by this header, and in a long-running worker Node's cached date may be stale.
    const date = new Date().toUTCString()
    outgoing.setHeader('date', date)
    if (isBroken?.({ method, path: url })) {
      incoming.resume()
      outgoing.writeHead(500).end()
      return
    }
    if (await multipart.answered(incoming, outgoing)) return
    const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, { ...answer.headers, date })
      if (!isCut?.({ method, path: url })) return answer.pipe(outgoing)
      let left = cutAfter
      answer.on('data', (bytes: Buffer) => {
        if (left <= 0) return
        left -= bytes.length
        if (left > 0) outgoing.write(bytes)
        else outgoing.write(bytes.subarray(0, bytes.length + left), () => outgoing.destroy())
      })
      answer.on('end', () => left > 0 && outgoing.end())
    })
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const { port: frontPort } = front.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${frontPort}`,
    requests,
    headers: received,
    break(matches) {
      isBroken = matches
    },
    cut(matches, after = 1) {
      isCut = matches
      cutAfter = after
    },
    silence(silent) {
      isSilent = silent
    },
    parts: multipart.left,
    async keys(bucket) {
      const suffix = '._S3rver_object'
      return (await listFiles(join(directory, bucket)))
        .filter((name) => name.endsWith(suffix))
        .map((name) => name.slice(0, -suffix.length))
        .sort()
    },
    async stop() {
      front.closeAllConnections()
      await close(front)
      await s3.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()))

/** Configuration that puts all files into this object storage. */
export const everythingIn = (endpoint: string) => {
  const others = Object.fromEntries(
    ['thumbnails', 'previews', 'avatars', 'storyboards', 'torrents', 'uploads', 'redundancy'].map((kind) => [
      kind,
      { bucket_name: 'others', prefix: `${kind}/` },
    ]),
  )
  return {
    object_storage: {
      enabled: true,
      endpoint,
      max_request_attempts: 2,
      credentials: { access_key_id: 'S3RVER', secret_access_key: 'S3RVER' },
    },
    vireo: { object_storage: others },
  }
}
