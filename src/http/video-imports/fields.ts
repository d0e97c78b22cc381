// The fields of an import: those of an upload, with a source instead of a file.

import { z } from 'zod'
import type { NewVideoFields, PublishDefaults } from '../../actors/video/index.ts'
import { isOpenWebAddress } from '../plugins/schemas.ts'
import { formFields, jsonFields, toUnnamedVideo, videoName } from '../uploads/fields.ts'

/** Forms express null by an empty text. */
const unlessEmpty = <T extends z.ZodType>(type: T) =>
  z.preprocess((sent) => (sent === '' || sent === null ? undefined : sent), type.optional())

const source = {
  targetUrl: unlessEmpty(z.string('Invalid value').min(3).max(2000).refine(isOpenWebAddress, 'Invalid value')),
  magnetUri: unlessEmpty(
    z
      .string('Invalid value')
      .max(2000)
      // Other parameters may come first, as in magnet links of local videos.
      .regex(/^magnet:\?(?:[^#]*&)?xt=urn:[a-z0-9]+:[a-z0-9]{32}/i, 'Invalid value'),
  ),
}

/** For a multipart form. */
export const formImport = formFields.extend({ ...source, name: unlessEmpty(videoName) })

/** For a JSON body. */
export const jsonImport = jsonFields.extend({ ...source, name: videoName.optional() })

type SentImport = z.output<typeof formImport> | z.output<typeof jsonImport>

/** What the user entered about the video; the rest is found at the source. Throws like `toUnnamedVideo`. */
export function toImportFields(
  sent: SentImport,
  defaults: PublishDefaults,
): Omit<NewVideoFields, 'name' | 'nsfw'> & { name?: string; nsfw?: boolean; isLicenceOpen: boolean } {
  const { nsfw: _nsfw, ...fields } = toUnnamedVideo(sent, defaults)
  return {
    ...fields,
    waitTranscoding: sent.waitTranscoding ?? true,
    isLicenceOpen: (sent.licence ?? null) === null,
    ...(sent.name === undefined ? {} : { name: sent.name }),
    ...(typeof sent.nsfw === 'boolean' ? { nsfw: sent.nsfw } : {}),
  }
}
