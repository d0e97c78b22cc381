// Uploads: in one request, and resumable.

import { readFile } from 'node:fs/promises'
import { media } from '../../../support/media.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { ownerOrStaff, row, signedIn } from '../row.ts'

const ADDRESS = '/api/v1/videos/upload-resumable'
const SIZE = 1000
const headers = { 'x-upload-content-length': String(SIZE), 'x-upload-content-type': 'video/mp4' }

/** A started upload of `user`. */
async function begun(fixtures: RouteFixtures): Promise<{ upload_id: string }> {
  const body = JSON.stringify(newVideo(fixtures.users.user.channelId))
  const answer = await fixtures.send('user', ADDRESS, {
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

// Not even administrators continue uploads of others.
const ownerOnly = (status: number) => ownerOrStaff(status, { moderator: 403, admin: 403 })

const ARCHIVES = '/api/v1/users/:userId/imports/import-resumable'
const archiveHeaders = { ...headers, 'x-upload-content-type': 'application/zip' }
const newArchive = () => ({ filename: `archive ${++serial}.zip` })
const archiveOf = (fixtures: RouteFixtures) => ({ params: { userId: fixtures.users.user.id } })

/** A started upload of `user`. */
async function begunArchive(fixtures: RouteFixtures) {
  const { params } = archiveOf(fixtures)
  const answer = await fixtures.send('user', ARCHIVES.replace(':userId', String(params.userId)), {
    method: 'POST',
    headers: { ...archiveHeaders, 'content-type': 'application/json' },
    body: JSON.stringify(newArchive()),
  })
  const id = new URL(answer.headers.get('location') ?? '', 'http://here').searchParams.get('upload_id')
  if (!id) throw new Error(`No upload was opened: ${answer.status}`)
  return { params, query: { upload_id: id } }
}

// Administrators act for others, moderators do not.
const ofUser = (status: number) => ownerOrStaff(status, { moderator: 403 })

export const uploadRows = [
  row('POST /api/v1/videos/upload', signedIn(200), async (fixtures, caller) => {
    const body = new FormData()
    body.set('channelId', String(fixtures.callerOrOwner(caller).channelId))
    body.set('name', 'an upload')
    body.set('videofile', new Blob([await readFile(await media('small.mp4'))]), 'video.mp4')
    return { body }
  }),
  row(`POST ${ADDRESS}`, signedIn(201), (fixtures, caller) => ({
    headers,
    body: newVideo(fixtures.callerOrOwner(caller).channelId),
  })),
  row(`PUT ${ADDRESS}`, ownerOnly(308), async (fixtures) => ({
    query: await begun(fixtures),
    headers: { 'content-type': 'application/octet-stream', 'content-range': `bytes 0-99/${SIZE}` },
    body: Buffer.alloc(100),
  })),
  row(`DELETE ${ADDRESS}`, ownerOnly(204), async (fixtures) => ({ query: await begun(fixtures) })),
  // Only one archive of a user is imported at a time: each caller sends a file that is none.
  row('POST /api/v1/vireo/users/:userId/imports', ofUser(400), (fixtures) => {
    const body = new FormData()
    body.set('archive', new Blob(['no archive'], { type: 'text/plain' }), 'archive.txt')
    return { ...archiveOf(fixtures), body }
  }),
  row(`POST ${ARCHIVES}`, ofUser(201), (fixtures) => ({ ...archiveOf(fixtures), headers: archiveHeaders, body: newArchive() })),
  row(`PUT ${ARCHIVES}`, ofUser(308), async (fixtures) => ({
    ...(await begunArchive(fixtures)),
    headers: { 'content-type': 'application/octet-stream', 'content-range': `bytes 0-99/${SIZE}` },
    body: Buffer.alloc(100),
  })),
  row(`DELETE ${ARCHIVES}`, ofUser(204), begunArchive),
  // There is none.
  row('GET /api/v1/users/:userId/imports/latest', ofUser(404), archiveOf),
  row('GET /api/v1/vireo/users/:userId/imports/latest', ofUser(404), archiveOf),
]
