// Statistics of videos.

import type { Cast } from '../cast.ts'
import { ownerOrStaff, row } from '../row.ts'

const of =
  (more = {}) =>
  async (cast: Cast) => ({ params: { id: (await cast.video()).uuid, ...more } })

export const videoStatsRows = [
  row('GET /api/v1/videos/:id/stats/overall', ownerOrStaff(200), of()),
  row('GET /api/v1/videos/:id/stats/retention', ownerOrStaff(200), of()),
  row('GET /api/v1/videos/:id/stats/timeseries/:metric', ownerOrStaff(200), of({ metric: 'viewers' })),
]
