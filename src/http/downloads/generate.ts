// Which files a generated download is made of. Pure.

import type { StoredFileRow } from '../../actors/video/index.ts'

/** One stored file as it is, or the picture of one with the sound of another. */
export type Plan = { file: StoredFileRow } | { picture: StoredFileRow; sound: StoredFileRow }

/**
 * At most one picture, the largest asked for, and one sound: that of a file without picture before that of the picture's own
 * file. Undefined when no file is given.
 */
export function planDownload(files: readonly StoredFileRow[]): Plan | undefined {
  const bySize = [...files].sort((a, b) => b.resolution - a.resolution)
  const picture = bySize.find(({ hasVideo }) => hasVideo)
  const sound = bySize.find(({ hasVideo, hasAudio }) => hasAudio && !hasVideo)
  if (picture && sound) return { picture, sound }
  const file = picture ?? sound ?? bySize[0]
  if (!file) return undefined
  const voice = file.hasAudio ? undefined : bySize.find(({ hasAudio }) => hasAudio)
  return voice && file.hasVideo ? { picture: file, sound: voice } : { file }
}

/** The ending of the download. */
export function extensionOf(plan: Plan): string {
  if (!('file' in plan)) return '.mp4'
  const { hasVideo, extname } = plan.file
  return !hasVideo && extname === '.mp4' ? '.m4a' : extname
}
