// What users ask about themselves.

import { row, signedIn } from '../row.ts'

export const meRows = [
  row('GET /api/v1/users/me', signedIn(200)),
  row('GET /api/v1/users/me/video-quota-used', signedIn(200)),
  row('GET /api/v1/users/me/videos', signedIn(200)),
  row('GET /api/v1/users/me/videos/:videoId/rating', signedIn(200), async ({ video }) => ({
    params: { videoId: (await video()).id },
  })),
]
