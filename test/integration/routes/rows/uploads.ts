// Uploads: in one request, and resumable.

import { readFile } from 'node:fs/promises'
import { media } from '../../../support/media.ts'
import type { Cast } from '../cast.ts'
import { ownerOrStaff, row, signedIn } from '../row.ts'

const ADDRESS = '/api/v1/videos/upload-resumable'
const SIZE = 1000
const headers = { 'x-upload-content-length': String(SIZE), 'x-upload-content-type': 'video/mp4' }

/** An upload that `user` has begun. */
async function begun(cast: Cast): Promise<{ upload_id: string }> {
  const body = JSON.stringify(newVideo(cast.users.user.channelId))
  const answer = await cast.send('user', ADDRESS, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  })
  const id = new URL(answer.headers.get('location') ?? '', 'http://here').searchParams.get('upload_id')
  if (!id) throw new Error(`No upload was opened: ${answer.status}`)
  return { upload_id: id }
}

let serial = 0
const newVideo = (channelId: number) => ({ channelId, name: `upload ${++serial}`, filename: 'video.mp4' })

// Not even administrators send to the uploads of others.
const ownerOnly = (status: number) => ownerOrStaff(status, { moderator: 403, admin: 403 })

export const uploadRows = [
  row('POST /api/v1/videos/upload', signedIn(200), async (cast, caller) => {
    const body = new FormData()
    body.set('channelId', String(cast.callerOrOwner(caller).channelId))
    body.set('name', 'an upload')
    body.set('videofile', new Blob([await readFile(await media('small.mp4'))]), 'video.mp4')
    return { body }
  }),
  row(`POST ${ADDRESS}`, signedIn(201), (cast, caller) => ({
    headers,
    body: newVideo(cast.callerOrOwner(caller).channelId),
  })),
  row(`PUT ${ADDRESS}`, ownerOnly(308), async (cast) => ({
    query: await begun(cast),
    headers: { 'content-type': 'application/octet-stream', 'content-range': `bytes 0-99/${SIZE}` },
    body: Buffer.alloc(100),
  })),
  row(`DELETE ${ADDRESS}`, ownerOnly(204), async (cast) => ({ query: await begun(cast) })),
]
