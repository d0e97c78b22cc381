// A client that uploads in chunks, and goes on where the server says it stands after a lost connection.

import type { Client } from '../../../scripts/demo/client.ts'

export interface UploadedVideo {
  id: number
  uuid: string
  shortUUID: string
}

export interface PersistentUpload {
  /** Goes on until the server answers with the video. Throws when the connection is lost, to be called again. */
  proceed(): Promise<UploadedVideo>
  video: UploadedVideo | undefined
}

/** Prepares an upload; nothing is sent before `proceed`. */
export function persistentUpload(options: {
  client: Client
  bytes: Buffer
  chunkSize: number
  fields: Record<string, unknown>
}): PersistentUpload {
  const { client, bytes, chunkSize, fields } = options
  const size = bytes.length
  let path: string | undefined
  /** Bytes that the server said it has: it must never say less later. */
  let acknowledged = 0

  async function open(): Promise<string> {
    const answer = await client.raw('/api/v1/videos/upload-resumable', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-upload-content-length': String(size),
        'x-upload-content-type': 'video/mp4',
      },
      body: JSON.stringify(fields),
    })
    if (answer.status !== 201) throw new Unexpected(`${answer.status} to the start: ${await answer.text()}`)
    const location = new URL(answer.headers.get('location') ?? '', client.base)
    return `${location.pathname}${location.search}`
  }

  /** One request: a chunk from `from` on, or without it the question where the upload stands. */
  async function put(to: string, from?: number): Promise<UploadedVideo | number> {
    const end = from === undefined ? 0 : Math.min(from + chunkSize, size)
    const answer = await client.raw(to, {
      method: 'PUT',
      redirect: 'manual',
      headers: {
        'content-type': 'application/octet-stream',
        'content-range': from === undefined ? `bytes */${size}` : `bytes ${from}-${end - 1}/${size}`,
      },
      body: new Uint8Array(bytes.subarray(from ?? 0, end)),
    })
    const text = await answer.text()
    if (answer.status === 200) return (JSON.parse(text) as { video: UploadedVideo }).video
    const last = /^bytes=0-(-?\d+)$/.exec(answer.headers.get('range') ?? '')?.[1]
    if (answer.status !== 308 || last === undefined) throw new Unexpected(`${answer.status} to a chunk: ${text}`)
    return Number(last) + 1
  }

  const upload: PersistentUpload = {
    video: undefined,
    async proceed() {
      const isNew = path === undefined
      path ??= await open()
      let stands = isNew ? 0 : await put(path)
      while (typeof stands === 'number') {
        if (stands < acknowledged) throw new Unexpected(`the server forgot ${acknowledged - stands} bytes`)
        acknowledged = stands
        stands = await put(path, stands)
      }
      upload.video = stands
      return stands
    },
  }
  return upload
}

/** An answer that no lost connection explains. */
export class Unexpected extends Error {
  override readonly name = 'Unexpected'
}
