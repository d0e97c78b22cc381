// Videos: lists, one video in each privacy, change, removal, ratings.

import { insert } from '../../../support/builders.ts'
import type { RouteFixtures } from '../fixtures.ts'
import { administrators, everybody, ownerOrStaff, row, signedIn, visitors } from '../row.ts'

const privacies = { public: 1, unlisted: 2, private: 3, internal: 4, passwordProtected: 5 } as const

const videoOf = (privacy: keyof typeof privacies) => async (fixtures: RouteFixtures) => ({
  params: { id: (await fixtures.video({ privacy: privacies[privacy] })).uuid },
})

const fileOf = (privacy: keyof typeof privacies) => async (fixtures: RouteFixtures) => {
  const { id, webVideo } = await fixtures.videoWithFiles({ isPrivate: privacy !== 'public' })
  return { params: { id, videoFileId: webVideo.id } }
}

const filesToMake = async (fixtures: RouteFixtures) => ({
  params: { id: (await fixtures.videoWithFiles({ isPrivate: false })).uuid },
  body: { transcodingType: 'hls', forceTranscoding: true },
})

function oneCut(): FormData {
  const form = new FormData()
  form.set('tasks[0][name]', 'cut')
  form.set('tasks[0][options][end]', '1')
  return form
}

const ratedVideoOf = (privacy: keyof typeof privacies) => async (fixtures: RouteFixtures) => ({
  ...(await videoOf(privacy)(fixtures)),
  body: { rating: 'like' },
})

const passwordOfVideo = async (fixtures: RouteFixtures) => {
  const { params } = await videoOf('passwordProtected')(fixtures)
  const [video] = await fixtures.db.query<{ id: number }>('select id from video where uuid = $1', [params.id])
  const add = (password: string) => insert(fixtures.db, 'video_password', { video_id: video?.id, password })
  await add('the other')
  return { params: { ...params, videoPasswordId: await add('this one') } }
}

const videoWithSource = async (fixtures: RouteFixtures) => {
  const { id, uuid } = await fixtures.video()
  await fixtures.db.query("insert into video_source (video_id, input_filename, size) values ($1, 'small.mp4', 1000)", [id])
  return { params: { id: uuid } }
}

const REPLACE = '/api/v1/videos/:id/source/replace-resumable'
const SIZE = 1000
const openingHeaders = { 'x-upload-content-length': String(SIZE), 'x-upload-content-type': 'video/mp4' }

/** A started upload of `user` that replaces their video's file. */
const begunReplacement = async (fixtures: RouteFixtures) => {
  const { params } = await videoOf('public')(fixtures)
  const answer = await fixtures.send('user', REPLACE.replace(':id', params.id), {
    method: 'POST',
    headers: { ...openingHeaders, 'content-type': 'application/json' },
    body: JSON.stringify({ filename: 'video.mp4' }),
  })
  const uploadId = new URL(answer.headers.get('location') ?? '', 'http://here').searchParams.get('upload_id')
  if (!uploadId) throw new Error(`No upload was opened: ${answer.status}`)
  return { params, query: { upload_id: uploadId } }
}

// Not even administrators continue uploads of others.
const uploaderOnly = (status: number) => ownerOrStaff(status, { moderator: 403, admin: 403 })

export const videoRows = [
  row('GET /api/v1/videos', visitors(200)),
  row('GET /api/v1/videos', visitors(401, { moderator: 200, admin: 200 }), () => ({ query: { privacyOneOf: '3' } }), 'private ones'),
  row('GET /api/v1/overviews/videos', visitors(200)),
  row('GET /api/v1/videos/categories', everybody(200)),
  row('GET /api/v1/videos/licences', everybody(200)),
  row('GET /api/v1/videos/languages', everybody(200)),
  row('GET /api/v1/videos/privacies', everybody(200)),

  row('GET /api/v1/videos/:id', visitors(200), videoOf('public'), 'public'),
  row('GET /api/v1/videos/:id', visitors(200), videoOf('unlisted'), 'unlisted'),
  row('GET /api/v1/videos/:id', ownerOrStaff(200), videoOf('private'), 'private'),
  row('GET /api/v1/videos/:id', signedIn(200), videoOf('internal'), 'internal'),
  row('GET /api/v1/videos/:id', ownerOrStaff(200, { anonymous: 403 }), videoOf('passwordProtected'), 'password protected'),
  row('GET /api/v1/videos/:id/description', visitors(200), videoOf('public'), 'public'),
  row('GET /api/v1/videos/:id/description', ownerOrStaff(200), videoOf('private'), 'private'),
  row('GET /api/v1/videos/:id/metadata/:videoFileId', visitors(200), fileOf('public'), 'public'),
  row('GET /api/v1/videos/:id/metadata/:videoFileId', ownerOrStaff(200), fileOf('private'), 'private'),

  row('PUT /api/v1/videos/:id', ownerOrStaff(204), async (fixtures) => ({
    ...(await videoOf('public')(fixtures)),
    body: { name: 'another name' },
  })),
  row('DELETE /api/v1/videos/:id', ownerOrStaff(204), videoOf('public')),

  row('GET /api/v1/videos/:id/passwords', ownerOrStaff(200), videoOf('passwordProtected')),
  row('PUT /api/v1/videos/:id/passwords', ownerOrStaff(204), async (fixtures) => ({
    ...(await videoOf('passwordProtected')(fixtures)),
    body: { passwords: ['first password', 'second password'] },
  })),
  row('DELETE /api/v1/videos/:id/passwords/:videoPasswordId', ownerOrStaff(204), passwordOfVideo),
  row('POST /api/v1/videos/:id/token', signedIn(200, { anonymous: 400 }), videoOf('public'), 'public'),
  row('POST /api/v1/videos/:id/token', ownerOrStaff(200), videoOf('private'), 'private'),
  row('POST /api/v1/videos/:id/token', ownerOrStaff(200, { anonymous: 403 }), videoOf('passwordProtected'), 'password protected'),

  row('GET /api/v1/videos/:id/source', ownerOrStaff(200), videoWithSource),
  row('DELETE /api/v1/videos/:id/source/file', administrators(204), videoWithSource),
  row('DELETE /api/v1/videos/:id/hls', administrators(204), async (fixtures) => {
    const { uuid } = await fixtures.videoWithFiles({ isPrivate: false })
    return { params: { id: uuid } }
  }),
  row('DELETE /api/v1/videos/:id/hls/:videoFileId', administrators(204), async (fixtures) => {
    const { id, uuid } = await fixtures.videoWithFiles({ isPrivate: true })
    const [file] = await fixtures.db.query<{ id: number }>(
      'select id from video_file where video_id = $1 and streaming_playlist_id is not null',
      [id],
    )
    return { params: { id: uuid, videoFileId: file?.id ?? 0 } }
  }),
  row('DELETE /api/v1/videos/:id/web-videos', administrators(204), async (fixtures) => {
    const { uuid } = await fixtures.videoWithFiles({ isPrivate: true })
    return { params: { id: uuid } }
  }),
  row('DELETE /api/v1/videos/:id/web-videos/:videoFileId', administrators(204), fileOf('public')),
  row('POST /api/v1/videos/:id/transcoding', administrators(204), filesToMake),
  row('POST /api/v1/videos/:id/studio/edit', ownerOrStaff(204), async (fixtures) => ({
    params: { id: (await fixtures.videoWithFiles({ isPrivate: false })).uuid },
    body: oneCut(),
  })),
  row(`POST ${REPLACE}`, ownerOrStaff(201), async (fixtures) => ({
    ...(await videoOf('public')(fixtures)),
    headers: openingHeaders,
    body: { filename: 'video.mp4' },
  })),
  row(`PUT ${REPLACE}`, uploaderOnly(308), async (fixtures) => ({
    ...(await begunReplacement(fixtures)),
    headers: { 'content-type': 'application/octet-stream', 'content-range': `bytes 0-99/${SIZE}` },
    body: Buffer.alloc(100),
  })),
  row(`DELETE ${REPLACE}`, uploaderOnly(204), begunReplacement),

  row('PUT /api/v1/videos/:id/rate', signedIn(204), ratedVideoOf('public'), 'public'),
  row('PUT /api/v1/videos/:id/rate', ownerOrStaff(204), ratedVideoOf('private'), 'private'),
]
