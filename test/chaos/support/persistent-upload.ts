// A client that uploads in chunks, and resumes at the server's offset after a lost connection.

import type { Client } from '../../../scripts/demo/client.ts'

export interface UploadedVideo {
  id: number
  uuid: string
  shortUUID: string
}

export interface PersistentUpload<Made> {
  /** Continues until the server returns what it created. Throws when the connection is lost; call it again. */
  proceed(): Promise<Made>
  made: Made | undefined
}

interface Sent {
  client: Client
  bytes: Buffer
  chunkSize: number
}

/** Prepares the upload of a new video; `proceed` sends the first request. */
export const persistentUpload = (options: Sent & { fields: Record<string, unknown> }): PersistentUpload<UploadedVideo> =>
  resumable({
    ...options,
    address: '/api/v1/videos/upload-resumable',
    read: (text) => (JSON.parse(text) as { video: UploadedVideo }).video,
  })

/** The same for the replacement of a video's file. Returns the name of the file. */
export const persistentReplacement = ({
  uuid,
  filename,
  ...options
}: Sent & { uuid: string; filename: string }): PersistentUpload<string> =>
  resumable({
    ...options,
    fields: { filename },
    address: `/api/v1/videos/${uuid}/source/replace-resumable`,
    read: (text) => (JSON.parse(text) as { inputFilename: string }).inputFilename,
  })

function resumable<Made extends object | string>(
  options: Sent & { fields: Record<string, unknown>; address: string; read: (text: string) => Made },
): PersistentUpload<Made> {
  const { client, bytes, chunkSize, fields, address, read } = options
  const size = bytes.length
  let path: string | undefined
  /** Offset that the server last reported: it must never go back. */
  let acknowledged = 0

  async function open(): Promise<string> {
    const answer = await client.raw(address, {
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

  /** Sends a chunk from `from` on, or without it a query for the offset. */
  async function put(to: string, from?: number): Promise<Made | number> {
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
    if (answer.status === 200) return read(text)
    const last = /^bytes=0-(-?\d+)$/.exec(answer.headers.get('range') ?? '')?.[1]
    if (answer.status !== 308 || last === undefined) throw new Unexpected(`${answer.status} to a chunk: ${text}`)
    return Number(last) + 1
  }

  const upload: PersistentUpload<Made> = {
    made: undefined,
    async proceed() {
      const isNew = path === undefined
      path ??= await open()
      let stands: Made | number = isNew ? 0 : await put(path)
      while (typeof stands === 'number') {
        if (stands < acknowledged) throw new Unexpected(`the server forgot ${acknowledged - stands} bytes`)
        acknowledged = stands
        stands = await put(path, stands)
      }
      upload.made = stands
      return stands
    },
  }
  return upload
}

/** An answer that no lost connection explains. */
export class Unexpected extends Error {
  override readonly name = 'Unexpected'
}
