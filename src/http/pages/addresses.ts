// Addresses of the pages, and preview pictures of videos for other sites.

import type { ActorSummary } from '../../actors/actor/index.ts'
import { toShortUuid } from '../../platform/ids.ts'
import type { Here } from '../videos/actor.view.ts'
import { withFileToken } from '../videos/address-token.ts'

/** px; the longer side of the frame in cards, oEmbed and pages. */
const LONGER_SIDE = 560
const USUAL_RATIO = 16 / 9

/** px. A frame of these proportions (width by height; 16:9 if unknown), no larger than `most`. */
export function embedSize(
  ratio: number | null | undefined,
  most: { width?: number | undefined; height?: number | undefined } = {},
): { width: number; height: number } {
  const proportions = ratio && Number.isFinite(ratio) && ratio > 0 ? ratio : USUAL_RATIO
  const width = Math.min(LONGER_SIDE, LONGER_SIDE * proportions)
  const height = width / proportions
  const scale = Math.min(1, (most.width ?? width) / width, (most.height ?? height) / height)
  return { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
}

type Named = Pick<ActorSummary, 'username' | 'host'>

/** `name` for local actors, `name@host` for remote ones. */
export const handleOf = ({ username, host }: Named): string => (host === null ? username : `${username}@${host}`)

export const watchPath = (video: { uuid: string }): string => `/w/${toShortUuid(video.uuid)}`
export const watchUrl = (video: { uuid: string }, here: Here): string => `${here.origin}${watchPath(video)}`
export const embedUrl = (video: { uuid: string }, here: Here): string => `${here.origin}/videos/embed/${video.uuid}`
/** Parses `<video>;threadId=<id>`, which mails, feeds and web clients use for links to a conversation. */
export function threadIn(text: string): { id: string; threadId: string } | undefined {
  const [, id, threadId] = /^([\w-]{1,100});threadId=(\d{1,10})$/.exec(text) ?? []
  return id === undefined || threadId === undefined ? undefined : { id, threadId }
}

export const previewPath = ({ preview }: { preview: string | null }, fileToken?: string): string | null =>
  preview && withFileToken(`/lazy-static/previews/${preview}`, fileToken)
export const previewUrl = (video: { preview: string | null }, here: Here): string | null =>
  video.preview && `${here.origin}${previewPath(video)}`

export const playlistPath = (playlist: { uuid: string }): string => `/w/p/${toShortUuid(playlist.uuid)}`
export const playlistUrlOf = (playlist: { uuid: string }, here: Here): string => `${here.origin}${playlistPath(playlist)}`
export const playlistEmbedUrl = (playlist: { uuid: string }, here: Here): string => `${here.origin}/video-playlists/embed/${playlist.uuid}`

/** A handle as a segment of a path. */
export const inPath = (actor: Named): string => encodeURIComponent(handleOf(actor)).replace('%40', '@')
export const accountPath = (account: Named): string => `/a/${inPath(account)}/video-channels`
export const channelPath = (channel: Named): string => `/c/${inPath(channel)}/videos`

/** The avatar for this width (px): the smallest that is not smaller. */
export function avatarPath({ avatars }: Pick<ActorSummary, 'avatars'>, width: number): string | undefined {
  const widths = avatars.toSorted((a, b) => (a.width ?? 0) - (b.width ?? 0))
  const fitting = widths.find((avatar) => (avatar.width ?? 0) >= width) ?? widths.at(-1)
  return fitting && `/lazy-static/avatars/${fitting.filename}`
}
