// The whole configuration as one zod schema, in the nesting of the YAML files.

import { z } from 'zod'
import { communityKeys } from './keys/community.ts'
import { mediaKeys } from './keys/media.ts'
import { networkKeys } from './keys/network.ts'
import { serverKeys } from './keys/server.ts'
import { storageKeys } from './keys/storage.ts'
import { vireoKeys } from './keys/vireo.ts'

export const schema = z.object({
  ...serverKeys,
  ...storageKeys,
  ...communityKeys,
  ...mediaKeys,
  ...networkKeys,
  ...vireoKeys,
})

/** The output of the schema, before dependent keys are filled in (see complete.ts). */
export type ParsedConfig = z.output<typeof schema>
