// Multipart operations that s3rver lacks: copying parts from an object, and aborting uploads.

import { readdir, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'

/** s3rver's folder for incomplete uploads, within that of their bucket. */
const UPLOADS = '._S3rver_uploads'

/** `directory`: the folder of the buckets; `base`: the URL of s3rver. */
export function makeMultipart({ directory, base }: { directory: string; base: string }) {
  return {
    /** Handles the request if it is one of these operations. */
    async answered({ method = '', url = '', headers }: IncomingMessage, answer: ServerResponse): Promise<boolean> {
      const { pathname, searchParams } = new URL(url, base)
      const id = searchParams.get('uploadId')
      if (id === null || !/^\w+$/.test(id)) return false
      if (method === 'DELETE') {
        await rm(join(directory, bucketOf(pathname), UPLOADS, id), { recursive: true, force: true })
        answer.writeHead(204).end()
        return true
      }
      const source = headers['x-amz-copy-source']
      if (method !== 'PUT' || typeof source !== 'string') return false
      await copyPart(url, { source, range: String(headers['x-amz-copy-source-range'] ?? '') }, answer)
      return true
    },

    /** The names of parts of a bucket's incomplete uploads. */
    async left(bucket: string): Promise<string[]> {
      return await readdir(join(directory, bucket, UPLOADS), { recursive: true }).catch(() => [])
    },
  }

  async function copyPart(url: string, { source, range }: { source: string; range: string }, answer: ServerResponse): Promise<void> {
    const found = await fetch(new URL(`/${source}`, base), range ? { headers: { range } } : {})
    const bytes = Buffer.from(await found.arrayBuffer())
    // S3 also refuses a part that extends beyond its source.
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? []
    if (!found.ok || (range && bytes.length !== Number(last) - Number(first) + 1)) {
      answer.writeHead(found.ok ? 416 : found.status).end()
      return
    }
    const stored = await fetch(new URL(url, base), { method: 'PUT', body: bytes })
    const etag = stored.headers.get('etag') ?? ''
    const modified = new Date().toISOString()
    answer
      .writeHead(stored.status, { 'content-type': 'application/xml' })
      .end(`<CopyPartResult><LastModified>${modified}</LastModified><ETag>${etag}</ETag></CopyPartResult>`)
  }
}

const bucketOf = (path: string): string => path.split('/')[1] ?? ''
