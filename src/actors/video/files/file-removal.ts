// Decides which files of a video a removal takes and which must stay. Pure.

import { DomainError, notFound } from '../../runtime/index.ts'

export type FileFormat = 'hls' | 'web-videos'

/** The properties of a stored file that decide about its removal. */
export interface RemovableFile {
  id: number
  hls: boolean
  hasVideo: boolean
  hasAudio: boolean
}

/** All files of a format, or the one with that id. */
export interface FilesAsked {
  format: FileFormat
  fileId?: number | undefined
}

/**
 * The files to remove, out of all files of the video. Throws `not_found` for an unknown id. Throws `invalid` if the video has no file of
 * the format, if nothing playable would be left, or if other renditions need the sound.
 */
export function filesToRemove<T extends RemovableFile>(files: readonly T[], asked: FilesAsked): T[] {
  const gone = asked.format === 'hls' ? goneOfHls(files, asked.fileId) : goneOfWebVideos(files, asked.fileId)
  const left = files.filter((file) => !gone.includes(file))
  const losesPicture = files.some(({ hasVideo }) => hasVideo) && !left.some(({ hasVideo }) => hasVideo)
  if (left.length === 0 || losesPicture) throw new DomainError('invalid', LAST[asked.format])
  return gone
}

const LAST: Record<FileFormat, string> = {
  hls: 'The HLS files cannot be removed: this video has no web videos.',
  'web-videos': 'The web videos cannot be removed: this video has no HLS files.',
}

function goneOfHls<T extends RemovableFile>(files: readonly T[], id: number | undefined): T[] {
  const all = files.filter(({ hls }) => hls)
  if (all.length === 0) throw new DomainError('invalid', 'This video has no HLS files.')
  if (id === undefined) return all
  const file = all.find((one) => one.id === id)
  if (!file) throw notFound('This video has no HLS file with this id.')
  const others = all.filter((other) => other !== file)
  const pictures = others.filter(({ hasVideo }) => hasVideo)
  // Players would choose a playlist of sound alone over web videos with a picture.
  if (file.hasVideo && pictures.length === 0) return all
  if (!file.hasVideo && pictures.some(({ hasAudio }) => !hasAudio)) {
    throw new DomainError('invalid', 'The other HLS files have their sound from this one.')
  }
  return [file]
}

function goneOfWebVideos<T extends RemovableFile>(files: readonly T[], id: number | undefined): T[] {
  const all = files.filter(({ hls }) => !hls)
  if (id !== undefined) {
    const file = all.find((one) => one.id === id)
    if (!file) throw notFound('This video has no web video with this id.')
    return [file]
  }
  if (all.length === 0) throw new DomainError('invalid', 'This video has no web videos.')
  return all
}
