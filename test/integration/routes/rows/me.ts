// The own account of a user.

import { notificationDefaults } from '../../../../src/actors/notification-setting/index.ts'
import { makePushBrowser } from '../../../support/push-browser.ts'
import { pictureForm } from '../picture.ts'
import { everybody, row, signedIn } from '../row.ts'

export const meRows = [
  row('GET /api/v1/users/me', signedIn(200)),
  row('PUT /api/v1/users/me', signedIn(204), () => ({ body: { theme: 'default' } })),
  row('PUT /api/v1/users/me/notification-settings', signedIn(204), () => ({ body: notificationDefaults })),
  row('GET /api/v1/users/me/notifications', signedIn(200)),
  row('POST /api/v1/users/me/notifications/read', signedIn(204), () => ({ body: { ids: [1] } })),
  row('POST /api/v1/users/me/notifications/read-all', signedIn(204)),
  row('GET /api/v1/vireo/push-subscriptions', signedIn(200)),
  row('POST /api/v1/vireo/push-subscriptions', signedIn(204), () => ({ body: makePushBrowser('https://push.example/1').subscription })),
  row('POST /api/v1/vireo/push-subscriptions/remove', signedIn(204), () => ({ body: { endpoint: 'https://push.example/1' } })),
  row('POST /api/v1/users/me/avatar/pick', signedIn(200), async () => ({ body: await pictureForm('avatarfile') })),
  row('DELETE /api/v1/users/me/avatar', signedIn(200)),
  row('GET /api/v1/users/me/video-quota-used', signedIn(200)),
  row('GET /api/v1/users/me/videos', signedIn(200)),
  row('GET /api/v1/users/me/videos/comments', signedIn(200)),
  row(
    'GET /api/v1/users/me/videos/comments',
    signedIn(200, { other: 403 }),
    async ({ video }) => ({ query: { videoId: String((await video()).id) } }),
    'of one video',
  ),
  row('GET /api/v1/users/me/videos/:videoId/rating', signedIn(200), async ({ video }) => ({
    params: { videoId: (await video()).id },
  })),
  row('GET /api/v1/users/me/history/videos', signedIn(200)),
  row('DELETE /api/v1/users/me/history/videos/:videoId', signedIn(204), async ({ video }) => ({
    params: { videoId: (await video()).id },
  })),
  row('POST /api/v1/users/me/history/videos/remove', signedIn(204), () => ({
    body: { beforeDate: '2020-01-01T00:00:00.000Z' },
  })),
  row('GET /api/v1/accounts/:name', everybody(200), ({ users }) => ({ params: { name: users.user.username } })),
]
