// Statistics of videos, and playback reports of players.

import type { RouteFixtures } from '../fixtures.ts'
import { everybody, ownerOrStaff, row } from '../row.ts'

const of =
  (more = {}) =>
  async (fixtures: RouteFixtures) => ({ params: { id: (await fixtures.video()).uuid, ...more } })

const REPORT = {
  playerMode: 'web-video',
  resolution: 240,
  fps: 15,
  p2pEnabled: true,
  p2pPeers: 2,
  bufferStalled: 0,
  resolutionChanges: 1,
  errors: 0,
  downloadedBytesP2P: 0,
  downloadedBytesHTTP: 0,
  uploadedBytesP2P: 0,
}

export const videoStatsRows = [
  row('GET /api/v1/videos/:id/stats/overall', ownerOrStaff(200), of()),
  row('GET /api/v1/videos/:id/stats/retention', ownerOrStaff(200), of()),
  row('GET /api/v1/videos/:id/stats/timeseries/:metric', ownerOrStaff(200), of({ metric: 'viewers' })),
  row('POST /api/v1/metrics/playback', everybody(204), async (fixtures) => ({
    body: { ...REPORT, videoId: (await fixtures.video()).uuid },
  })),
]
