// Features of PeerTube's configuration that this version lacks: shown as disabled, whatever the configuration says.

import type { ParsedConfig } from './schema.ts'

/** Prefixes of the keys without effect. */
const UNSUPPORTED = [
  'client.open_in_app',
  'geo_ip',
  'live.transcoding.profile',
  'open_telemetry.tracing',
  'video_transcription.engine',
  'video_transcription.engine_path',
  'video_transcription.model',
  'video_transcription.model_path',
  'webrtc',
] as const

export const isUnsupported = (path: string): boolean =>
  UNSUPPORTED.some((beginning) => path === beginning || path.startsWith(`${beginning}.`))

/** Sections whose parts of this kind are disabled. */
export const withoutUnsupported = ({ video_transcription }: ParsedConfig) => ({
  // Only remote runners transcribe.
  video_transcription: { ...video_transcription, enabled: video_transcription.enabled && video_transcription.remote_runners.enabled },
})
