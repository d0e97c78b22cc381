// Avatars and banners of an account or a channel: the largest of each as a file, all of them by their addresses.

import { extname } from 'node:path'
import type { ActorImageRow } from '../../actor/index.ts'
import type { PartItem } from '../../user-archive/index.ts'
import type { Export } from '../export.ts'
import type { ExportedActor } from '../exported-user.ts'
import { iso } from '../rows.ts'

/** Writes the pictures; returns their paths, as documents name them. */
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

/** What the documents of accounts and channels have in common. */
export function describeActor(
  { urls }: Pick<Export, 'urls'>,
  actor: ExportedActor,
  archiveFiles: PartItem<'account'>['archiveFiles'],
): PartItem<'account'> {
  const describe = (kind: 'avatars' | 'banners', { filename, width, file_url, created_at, updated_at }: ActorImageRow) => ({
    width,
    url: file_url ?? `${urls.origin}/lazy-static/${kind}/${filename}`,
    createdAt: iso(created_at),
    updatedAt: iso(updated_at),
  })
  return {
    url: actor.url,
    name: actor.username,
    avatars: actor.avatars.map((image) => describe('avatars', image)),
    banners: actor.banners.map((image) => describe('banners', image)),
    displayName: actor.name,
    description: actor.description,
    updatedAt: iso(actor.updatedAt),
    createdAt: iso(actor.createdAt),
    archiveFiles,
  }
}
