// Which files may be uploaded, by name and declared type. The content is checked when the file is complete.

import { extname } from 'node:path'
import type { Config } from '../../config/index.ts'
import { acceptedExtensions } from '../../media/index.ts'
import { DomainError } from '../runtime/index.ts'

/** Generic types, and types registered outside of `video/` and `audio/`. */
const OTHER_TYPES = ['application/octet-stream', 'application/ogg', 'application/mxf', 'application/x-nut']

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

/** Types that browsers and systems use for ZIP files. */
const ARCHIVE_TYPES = ['application/zip', 'application/x-zip-compressed', 'application/x-zip', 'application/octet-stream']

/** Throws `invalid` unless the name and the declared type are those of a ZIP file. */
export function refuseNoArchive({ fileName, type }: { fileName: string; type: string }): void {
  const plain = type.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  if (extname(fileName).toLowerCase() === '.zip' && ARCHIVE_TYPES.includes(plain)) return
  throw new DomainError('invalid', 'User import file must be a zip')
}
