// Views: positions in a video.

import type { RouteFixtures } from '../fixtures.ts'
import { ownerOrStaff, row, signedIn, visitors } from '../row.ts'

const PRIVATE = 3

const at = (columns: Record<string, unknown>) => async (fixtures: RouteFixtures) => ({
  params: { id: (await fixtures.video(columns)).uuid },
  body: { currentTime: 1 },
})

export const viewRows = [
  row('POST /api/v1/videos/:id/views', visitors(204), at({}), 'of a public video'),
  row('POST /api/v1/videos/:id/views', ownerOrStaff(204), at({ privacy: PRIVATE }), 'of a private video'),
  row('PUT /api/v1/videos/:id/views', visitors(204), at({})),
  row('PUT /api/v1/videos/:id/watching', signedIn(204), at({}), 'of a public video'),
  row('PUT /api/v1/videos/:id/watching', ownerOrStaff(204), at({ privacy: PRIVATE }), 'of a private video'),
]
