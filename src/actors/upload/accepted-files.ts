// Which files may be uploaded, by name and declared type. What is really inside is looked at when the file is there.

import { extname } from 'node:path'
import type { Config } from '../../config/index.ts'
import { DomainError } from '../runtime/index.ts'

const ALWAYS = ['.webm', '.ogv', '.mp4']

const ADDITIONAL = [
  ...['.mkv', '.mov', '.qt', '.mqv', '.avi', '.flv', '.f4v', '.m4v', '.ogg', '.wmv', '.mxf', '.nut', '.vob'],
  ...['.3gp', '.3gpp', '.3g2', '.3gpp2', '.mpg', '.mpeg', '.mpe', '.m1v', '.m2v', '.mpv', '.m2ts', '.mts', '.ts'],
]

const SOUND = ['.mp3', '.ogg', '.oga', '.opus', '.wma', '.wav', '.flac', '.aac', '.m4a', '.ac3']

/** Types that say nothing about the content, or are registered outside of `video/` and `audio/`. */
const OTHER_TYPES = ['application/octet-stream', 'application/ogg', 'application/mxf', 'application/x-nut']

/** The extensions that this server takes now, each once. */
export function acceptedExtensions({ transcoding }: Config): string[] {
  const { enabled, allow_additional_extensions, allow_audio_files } = transcoding
  return [
    ...new Set([
      ...ALWAYS,
      ...(enabled && allow_additional_extensions ? ADDITIONAL : []),
      ...(enabled && allow_audio_files ? SOUND : []),
    ]),
  ]
}

/** Throws `unsupported_media_type` unless the name's extension, and the declared type if any, are accepted. */
export function refuseUnsupported(file: { filename: string; type?: string | undefined }, config: Config): void {
  const accepted = acceptedExtensions(config)
  const type = file.type?.split(';', 1)[0]?.trim().toLowerCase()
  const isPlausible = type === undefined || /^(video|audio)\//.test(type) || OTHER_TYPES.includes(type)
  if (isPlausible && accepted.includes(extname(file.filename).toLowerCase())) return
  throw new DomainError(
    'unsupported_media_type',
    `This file is not supported. Please make sure it is of one of these types: ${accepted.join(', ')}`,
  )
}

/** What browsers and systems call a ZIP. */
const ARCHIVE_TYPES = [
  'application/zip',
  'application/x-zip-compressed',
  'application/x-zip',
  'application/octet-stream',
]

/** Throws `invalid` unless the name and the declared type are those of a ZIP. */
export function refuseNoArchive({ fileName, type }: { fileName: string; type: string }): void {
  const plain = type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (extname(fileName).toLowerCase() === '.zip' && ARCHIVE_TYPES.includes(plain)) return
  throw new DomainError('invalid', 'User import file must be a zip')
}
