// Writes of avatars and banners in the transactions of other nouns.

import type { Sql } from '../../platform/database/index.ts'

export const removeActorImages = (query: Sql, actorIds: number[]) => query('delete from actor_image where actor_id = any($1)', [actorIds])

/** The images of a remote actor; one with an unchanged URL stays. */
export async function replaceRemoteImages(
  query: Sql,
  actorId: number,
  images: readonly { type: number; fileUrl: string; width: number | null; height: number | null }[],
): Promise<void> {
  const urls = images.map((image) => image.fileUrl)
  await query('delete from actor_image where actor_id = $1 and not (file_url = any($2))', [actorId, urls])
  for (const image of images) {
    await query(
      `insert into actor_image (actor_id, type, filename, width, height, file_url)
       select $1, $2, gen_random_uuid() || substring($5 from '\\.[a-z0-9]{2,5}$'), $3, $4, $5
       where not exists (select 1 from actor_image where actor_id = $1 and file_url = $5)`,
      [actorId, image.type, image.width, image.height, image.fileUrl],
    )
  }
}
