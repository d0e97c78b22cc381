// Chooses the files of a generated download. Pure.

import { DomainError } from '../../actors/runtime/index.ts'
import type { StoredFileRow } from '../../actors/video/index.ts'

/** One stored file, or the picture of one with the sound of another. */
export type Plan = { file: StoredFileRow } | { picture: StoredFileRow; sound: StoredFileRow }

/** At most one picture and one sound. Undefined if no file is given. Throws `invalid` for two pictures or two sounds. */
export function planDownload(files: readonly StoredFileRow[]): Plan | undefined {
  const pictures = files.filter(({ hasVideo }) => hasVideo)
  const sounds = files.filter(({ hasVideo }) => !hasVideo)
  if (pictures.length > 1) throw several('one video stream')
  if (sounds.length > 1) throw several('one audio stream')
  const [picture, sound] = [pictures[0], sounds[0]]
  if (picture && sound) return { picture, sound }
  const file = picture ?? sound
  return file && { file }
}

function several(most: string): DomainError {
  const msg = `Should name files with at most ${most}`
  return new DomainError('invalid', msg, { invalidParams: [{ name: 'videoFileIds', location: 'query', msg }] })
}

/** The extension of the download. */
export function extensionOf(plan: Plan): string {
  if (!('file' in plan)) return '.mp4'
  const { hasVideo, extname } = plan.file
  return !hasVideo && extname === '.mp4' ? '.m4a' : extname
}
