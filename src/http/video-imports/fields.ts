// The fields of an import as clients send them: those of an upload, with what is to be imported in the place of a file.

import { z } from 'zod'
import type { NewVideoFields, PublishDefaults } from '../../actors/video/index.ts'
import { isOpenWebAddress } from '../plugins/schemas.ts'
import { formFields, jsonFields, toUnnamedVideo, videoName } from '../uploads/fields.ts'

/** Forms say "nothing" by an empty text. */
const unlessEmpty = <T extends z.ZodType>(type: T) =>
  z.preprocess((sent) => (sent === '' || sent === null ? undefined : sent), type.optional())

const source = {
  targetUrl: unlessEmpty(z.string('Invalid value').min(3).max(2000).refine(isOpenWebAddress, 'Invalid value')),
  magnetUri: unlessEmpty(
    z
      .string('Invalid value')
      .max(2000)
      // Other parameters may come first, as in the ones of our own videos.
      .regex(/^magnet:\?(?:[^#]*&)?xt=urn:[a-z0-9]+:[a-z0-9]{32}/i, 'Invalid value'),
  ),
}

/** Of a multipart form. */
export const formImport = formFields.extend({ ...source, name: unlessEmpty(videoName) })

/** Of a JSON body. */
export const jsonImport = jsonFields.extend({ ...source, name: videoName.optional() })

type SentImport = z.output<typeof formImport> | z.output<typeof jsonImport>

/** What the user said of the video; the rest is found. Throws as `toUnnamedVideo`. */
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
