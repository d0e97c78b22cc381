// Aggregates the reports of players. The labels of a series come from short lists, so that players cannot create new series.

import type { Telemetry } from '../../platform/telemetry.ts'

export const playerModes = ['p2p-media-loader', 'web-video'] as const

/** Figures of a player since its last report. */
export interface Playback {
  playerMode: (typeof playerModes)[number]
  /** Lines of the smaller side, px; 0 for sound only. */
  resolution?: number | undefined
  p2pEnabled: boolean
  p2pPeers?: number | undefined
  resolutionChanges: number
  bufferStalled?: number | undefined
  errors: number
  downloadedBytesP2P: number
  downloadedBytesHTTP: number
  uploadedBytesP2P: number
}

const LABELS = ['player', 'p2p', 'resolution', 'origin'] as const

/** `VideoResolution` of the contract; other resolutions count as "other". */
const RESOLUTIONS: ReadonlySet<number> = new Set([0, 144, 240, 360, 480, 720, 1080, 1440, 2160])

export type CountPlayback = (playback: Playback, video: { remote: boolean }) => void

export function makeCountPlayback(telemetry: Pick<Telemetry, 'counter'>): CountPlayback {
  const counter = (name: string, help: string) => telemetry.counter({ name: `vireo_playback_${name}_total`, help, labels: LABELS })
  const reports = counter('reports', 'Reports of players')
  const changes = counter('resolution_changes', 'Changes of the resolution while playing')
  const stalls = counter('buffer_stalled', 'Times that a player ran out of data')
  const errors = counter('errors', 'Errors of players')
  const peers = counter('p2p_peers', 'Peers of players, summed over their reports')
  const byP2P = counter('p2p_downloaded_bytes', 'Bytes that players got from each other')
  const byHttp = counter('http_downloaded_bytes', 'Bytes that players got from servers')
  const uploaded = counter('p2p_uploaded_bytes', 'Bytes that players gave to each other')

  return (playback, { remote }) => {
    const labels = {
      player: playback.playerMode,
      p2p: playback.p2pEnabled ? 'on' : 'off',
      resolution: resolutionLabel(playback.resolution),
      origin: remote ? 'remote' : 'local',
    }
    reports.add(labels)
    changes.add(labels, playback.resolutionChanges)
    stalls.add(labels, playback.bufferStalled ?? 0)
    errors.add(labels, playback.errors)
    peers.add(labels, playback.p2pPeers ?? 0)
    byP2P.add(labels, playback.downloadedBytesP2P)
    byHttp.add(labels, playback.downloadedBytesHTTP)
    uploaded.add(labels, playback.uploadedBytesP2P)
  }
}

function resolutionLabel(resolution: number | undefined): string {
  if (resolution === undefined) return 'unknown'
  return RESOLUTIONS.has(resolution) ? String(resolution) : 'other'
}
