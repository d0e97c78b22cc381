// Videos: lists, one video in each privacy, change, removal, ratings.

import type { Cast } from '../cast.ts'
import { everybody, ownerOrStaff, row, signedIn, visitors } from '../row.ts'

const privacies = { public: 1, unlisted: 2, private: 3, internal: 4, passwordProtected: 5 } as const

const videoOf = (privacy: keyof typeof privacies) => async (cast: Cast) => ({
  params: { id: (await cast.video({ privacy: privacies[privacy] })).uuid },
})

const fileOf = (privacy: keyof typeof privacies) => async (cast: Cast) => {
  const { id, webVideo } = await cast.videoWithFiles({ isPrivate: privacy !== 'public' })
  return { params: { id, videoFileId: webVideo.id } }
}

const ratedVideoOf = (privacy: keyof typeof privacies) => async (cast: Cast) => ({
  ...(await videoOf(privacy)(cast)),
  body: { rating: 'like' },
})

export const videoRows = [
  row('GET /api/v1/videos', visitors(200)),
  row(
    'GET /api/v1/videos',
    visitors(401, { moderator: 200, admin: 200 }),
    () => ({ query: { privacyOneOf: '3' } }),
    'private ones',
  ),
  row('GET /api/v1/overviews/videos', visitors(200)),
  row('GET /api/v1/videos/categories', everybody(200)),
  row('GET /api/v1/videos/licences', everybody(200)),
  row('GET /api/v1/videos/languages', everybody(200)),
  row('GET /api/v1/videos/privacies', everybody(200)),

  row('GET /api/v1/videos/:id', visitors(200), videoOf('public'), 'public'),
  row('GET /api/v1/videos/:id', visitors(200), videoOf('unlisted'), 'unlisted'),
  row('GET /api/v1/videos/:id', ownerOrStaff(200), videoOf('private'), 'private'),
  row('GET /api/v1/videos/:id', signedIn(200), videoOf('internal'), 'internal'),
  row(
    'GET /api/v1/videos/:id',
    ownerOrStaff(200, { anonymous: 403 }),
    videoOf('passwordProtected'),
    'password protected',
  ),
  row('GET /api/v1/videos/:id/description', visitors(200), videoOf('public'), 'public'),
  row('GET /api/v1/videos/:id/description', ownerOrStaff(200), videoOf('private'), 'private'),
  row('GET /api/v1/videos/:id/metadata/:videoFileId', visitors(200), fileOf('public'), 'public'),
  row('GET /api/v1/videos/:id/metadata/:videoFileId', ownerOrStaff(200), fileOf('private'), 'private'),

  row('PUT /api/v1/videos/:id', ownerOrStaff(204), async (cast) => ({
    ...(await videoOf('public')(cast)),
    body: { name: 'another name' },
  })),
  row('DELETE /api/v1/videos/:id', ownerOrStaff(204), videoOf('public')),

  row('PUT /api/v1/videos/:id/rate', signedIn(204), ratedVideoOf('public'), 'public'),
  row('PUT /api/v1/videos/:id/rate', ownerOrStaff(204), ratedVideoOf('private'), 'private'),
]
