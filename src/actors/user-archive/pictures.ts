// Pictures of an archive. An invalid or too large one is left out; its owner is imported without it.

import { ArchiveError, isDiskFull, isRefusal } from '../../media/index.ts'
import { DomainError } from '../runtime/index.ts'
import type { ArchivedFile } from './import-context.ts'
import type { ImportDeps } from './import-deps.ts'
import type { Unpack } from './unpack.ts'

/** Runs `work` with the picture; undefined without one, or if it is unusable. */
export async function withPicture<T>(
  { config, logger }: Pick<ImportDeps, 'config' | 'logger'>,
  { file, unpack, name }: { file: ArchivedFile | undefined; unpack: Unpack; name: string },
  use: (path: string) => Promise<T>,
): Promise<T | undefined> {
  if (!file) return undefined
  try {
    return await use(await unpack(file, name, config().vireo.uploads.max_image_size))
  } catch (error) {
    if (!isOfNoUse(error)) throw error
    logger.debug({ err: error, file: file.path }, 'a picture of an archive is of no use')
    return undefined
  }
}

/** Also for a picture that is damaged in the archive, or differs from its declared size. */
export const isOfNoUse = (error: unknown): boolean =>
  !isDiskFull(error) && (error instanceof ArchiveError || isRefusal(error) || (error instanceof DomainError && error.kind === 'too_large'))
