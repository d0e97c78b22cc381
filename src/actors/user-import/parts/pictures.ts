// Pictures of an archive. An invalid or too large one is left out; its owner is imported without it.

import { ArchiveError, isDiskFull, isRefusal } from '../../../media/index.ts'
import { actorImageTypes } from '../../actor/index.ts'
import { DomainError } from '../../runtime/index.ts'
import type { ArchivedFile, ImportContext } from '../part-importer.ts'
import { type Unpack, withWorkFolder } from '../unpack.ts'
import type { Deps } from './deps.ts'

/** Runs `work` with the picture; undefined without one, or if it is unusable. */
export async function withPicture<T>(
  { config, logger }: Pick<Deps, 'config' | 'logger'>,
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

type Kind = keyof typeof actorImageTypes

/** Gives a local actor the pictures that it lacks; local ones stay. Returns true if a picture was added. */
export async function fillActorImages(
  deps: Deps,
  actorId: number,
  archiveFiles: Partial<Record<Kind, string | null | undefined>>,
  context: ImportContext,
): Promise<boolean> {
  const rows = await deps.db.query<{ type: number }>('select distinct type from actor_image where actor_id = $1', [actorId])
  const known = new Set(rows.map(({ type }) => type))
  const kinds: Kind[] = ['avatar', 'banner']
  const missing = kinds.flatMap((kind) => {
    const file = known.has(actorImageTypes[kind]) ? undefined : context.file(archiveFiles[kind])
    return file ? [{ kind, file }] : []
  })
  if (missing.length === 0) return false
  return await withWorkFolder(deps, context.signal, async (unpack) => {
    let filled = false
    for (const { kind, file } of missing) {
      const stored = await withPicture(deps, { file, unpack, name: kind }, (path) => deps.actorImages.set(actorId, kind, path))
      filled ||= stored !== undefined
    }
    return filled
  })
}
