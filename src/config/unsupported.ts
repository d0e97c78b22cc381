// Features of PeerTube's configuration that this version lacks: shown as disabled, whatever the configuration says.

import type { ParsedConfig } from './schema.ts'

/** Prefixes of the keys without effect. */
const UNSUPPORTED = [
  'client.open_in_app',
  'geo_ip',
  'live.transcoding',
  'object_storage.streaming_playlists.store_live_streams',
  'open_telemetry.tracing',
  'plugins.index.check_latest_versions_interval',
  'plugins.index.url',
  'remote_runners',
  'transcoding.remote_runners',
  'video_studio.remote_runners',
  'video_transcription',
  'vireo.lifetimes.plugin_external_auth',
  'vireo.live.edge_delay_segments',
  'vireo.runners',
  'vireo.schedulers.check_plugins',
  'vireo.schedulers.geo_ip_update',
  'webrtc',
] as const

export const isUnsupported = (path: string): boolean =>
  UNSUPPORTED.some((beginning) => path === beginning || path.startsWith(`${beginning}.`))

const OFF = { enabled: false }

/** Sections whose parts of this kind are disabled. */
export const withoutUnsupported = ({ live, transcoding, video_studio, video_transcription }: ParsedConfig) => ({
  live: { ...live, transcoding: { ...live.transcoding, remote_runners: OFF } },
  transcoding: { ...transcoding, remote_runners: OFF },
  video_studio: { ...video_studio, remote_runners: OFF },
  video_transcription: { ...video_transcription, ...OFF, remote_runners: OFF },
})
