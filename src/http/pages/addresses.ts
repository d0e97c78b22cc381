// Where the pages are, and the pictures that stand for a video elsewhere.

import { toShortUuid } from '../../platform/ids.ts'
import type { Here } from '../videos/actor.view.ts'

/** px; the frame that cards and oEmbed offer. */
export const EMBED = { width: 560, height: 315 } as const

export const watchPath = (video: { uuid: string }): string => `/w/${toShortUuid(video.uuid)}`
export const watchUrl = (video: { uuid: string }, here: Here): string => `${here.origin}${watchPath(video)}`
export const embedUrl = (video: { uuid: string }, here: Here): string => `${here.origin}/videos/embed/${video.uuid}`
export const previewUrl = (video: { preview: string | null }, here: Here): string | null =>
  video.preview && `${here.origin}/lazy-static/previews/${video.preview}`
