// The extensions of media files that may be uploaded and imported.

import type { Config } from '../config/index.ts'

const ALWAYS = ['.webm', '.ogv', '.mp4']

const ADDITIONAL = [
  '.mkv',
  '.mov',
  '.qt',
  '.mqv',
  '.avi',
  '.flv',
  '.f4v',
  '.m4v',
  '.ogg',
  '.wmv',
  '.mxf',
  '.nut',
  '.vob',
  '.3gp',
  '.3gpp',
  '.3g2',
  '.3gpp2',
  '.mpg',
  '.mpeg',
  '.mpe',
  '.m1v',
  '.m2v',
  '.mpv',
  '.m2ts',
  '.mts',
  '.ts',
]

const SOUND = ['.mp3', '.ogg', '.oga', '.opus', '.wma', '.wav', '.flac', '.aac', '.m4a', '.ac3']

/** The extensions that the configuration allows, without duplicates. */
export function acceptedExtensions({ transcoding }: Config): string[] {
  const { enabled, allow_additional_extensions, allow_audio_files } = transcoding
  return [
    ...new Set([...ALWAYS, ...(enabled && allow_additional_extensions ? ADDITIONAL : []), ...(enabled && allow_audio_files ? SOUND : [])]),
  ]
}
