// The kinds of work that this runner can do, by the type of the job.

import { makeEdition } from './editions.ts'
import { makeLiveRenditions } from './lives.ts'
import type { Make } from './making.ts'
import { makeRendition } from './renditions.ts'
import { makeStoryboardFile } from './storyboards.ts'

export const kinds: Readonly<Record<string, Make>> = {
  'vod-web-video-transcoding': makeRendition,
  'vod-hls-transcoding': makeRendition,
  'vod-audio-merge-transcoding': makeRendition,
  'live-rtmp-hls-transcoding': makeLiveRenditions,
  'video-studio-transcoding': makeEdition,
  'generate-video-storyboard': makeStoryboardFile,
}
