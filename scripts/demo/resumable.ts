// A resumable upload by hand: initialised, interrupted within a chunk, queried for its offset, and continued.

import { request } from 'node:http'
import { type Client, ok, verify } from './client.ts'

export interface Uploaded {
  video: { id: number; uuid: string; shortUUID: string }
}

/** Uploads in chunks. With `interrupt`, the connection is cut within the second chunk and the upload resumed. */
export async function uploadResumable(
  client: Client,
  options: {
    bytes: Buffer
    filename: string
    fields: Record<string, unknown>
    chunkSize: number
    interrupt?: () => Promise<void>
  },
): Promise<Uploaded> {
  const { bytes, filename, fields, chunkSize } = options
  const started = await client.raw('/api/v1/videos/upload-resumable', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-upload-content-length': String(bytes.length),
      'x-upload-content-type': 'video/mp4',
    },
    body: JSON.stringify({ ...fields, filename }),
  })
  verify(started.status === 201, `201 to the start of an upload, not ${started.status}: ${await started.clone().text()}`)
  const location = new URL(started.headers.get('location') ?? '', client.base)
  const path = `${location.pathname}${location.search}`

  let offset = 0
  let interrupted = options.interrupt === undefined
  for (;;) {
    const end = Math.min(offset + chunkSize, bytes.length)
    if (!interrupted && offset > 0) {
      interrupted = true
      await cutOff(client, path, bytes, offset, end)
      await options.interrupt?.()
      offset = await offsetOf(client, path, bytes.length)
      continue
    }
    const answer = await put(client, path, bytes.subarray(offset, end), `bytes ${offset}-${end - 1}/${bytes.length}`)
    if (answer.status === 200) return await ok<Uploaded>(answer)
    verify(answer.status === 308, `308 to a chunk, not ${answer.status}: ${await answer.clone().text()}`)
    offset = nextOffset(answer)
  }
}

const put = (client: Client, path: string, body: Buffer, range: string): Promise<Response> =>
  client.raw(path, {
    method: 'PUT',
    redirect: 'manual',
    headers: { 'content-type': 'application/octet-stream', 'content-range': range },
    body: new Uint8Array(body),
  })

/** Number of bytes that the server has. */
async function offsetOf(client: Client, path: string, size: number): Promise<number> {
  const answer = await put(client, path, Buffer.alloc(0), `bytes */${size}`)
  verify(answer.status === 308, `308 to the query of an upload's offset, not ${answer.status}`)
  return nextOffset(answer)
}

const nextOffset = (answer: Response): number => Number(/-(-?\d+)$/.exec(answer.headers.get('range') ?? '')?.[1] ?? -1) + 1

/** Sends half of a chunk and cuts the connection. */
async function cutOff(client: Client, path: string, bytes: Buffer, start: number, end: number): Promise<void> {
  const { authorization } = client
  await new Promise<void>((resolve) => {
    const sending = request(new URL(path, client.base), {
      method: 'PUT',
      headers: {
        authorization,
        'content-type': 'application/octet-stream',
        'content-range': `bytes ${start}-${end - 1}/${bytes.length}`,
        'content-length': end - start,
      },
    })
    sending.once('error', () => resolve())
    sending.once('close', () => resolve())
    sending.write(bytes.subarray(start, start + Math.floor((end - start) / 2)), () => sending.destroy())
  })
}
