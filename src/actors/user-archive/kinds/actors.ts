// What accounts and channels have in common: the item of their documents, and their avatars and banners. The largest of each is written as
// a file, all of them by their addresses.

import { extname } from 'node:path'
import { z } from 'zod'
import { type ActorImageRow, actorImageTypes } from '../../actor/index.ts'
import type { Export, ExportedActor } from '../export.ts'
import type { ImportContext } from '../import-context.ts'
import type { ImportDeps } from '../import-deps.ts'
import { archiveFile, date, listOf, nullableText } from '../part.ts'
import { withPicture } from '../pictures.ts'
import { iso } from '../rows.ts'
import { withWorkFolder } from '../unpack.ts'

const image = z.object({
  /** px. */
  width: z.int().nullish(),
  url: z.string().nullish(),
  createdAt: date,
  updatedAt: date,
})

export const actorItem = z.object({
  url: z.string(),
  name: z.string(),
  avatars: listOf(image).default([]),
  banners: listOf(image).default([]),
  displayName: z.string(),
  description: nullableText,
  updatedAt: date,
  createdAt: date,
  archiveFiles: z.object({ avatar: archiveFile, banner: archiveFile }),
})

/** Returns their paths, as documents name them. */
export async function writePictures(
  { writer }: Pick<Export, 'writer'>,
  folder: 'account' | 'channels',
  { username, avatars, banners }: ExportedActor,
): Promise<{ avatar: string | null; banner: string | null }> {
  const write = async (kind: 'avatars' | 'banners', images: ActorImageRow[]): Promise<string | null> => {
    for (const { filename } of images.toReversed()) {
      const name = `files/${folder}/${kind}/${username}${extname(filename)}`
      const file = await writer.file(name, [{ kind: 'avatars', name: filename }])
      if (file) return file.path
    }
    return null
  }
  return { avatar: await write('avatars', avatars), banner: await write('banners', banners) }
}

export function describeActor(
  { urls }: Pick<Export, 'urls'>,
  actor: ExportedActor,
  archiveFiles: z.input<typeof actorItem>['archiveFiles'],
): z.input<typeof actorItem> {
  const describe = (kind: 'avatars' | 'banners', { filename, width, file_url, created_at, updated_at }: ActorImageRow) => ({
    width,
    url: file_url ?? `${urls.origin}/lazy-static/${kind}/${filename}`,
    createdAt: iso(created_at),
    updatedAt: iso(updated_at),
  })
  return {
    url: actor.url,
    name: actor.username,
    avatars: actor.avatars.map((one) => describe('avatars', one)),
    banners: actor.banners.map((one) => describe('banners', one)),
    displayName: actor.name,
    description: actor.description,
    updatedAt: iso(actor.updatedAt),
    createdAt: iso(actor.createdAt),
    archiveFiles,
  }
}

type Kind = keyof typeof actorImageTypes

/** Gives a local actor the pictures that it lacks; local ones stay. Returns true if a picture was added. */
export async function fillPictures(
  deps: ImportDeps,
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
