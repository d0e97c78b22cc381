// Avatars and banners of actors: columns for statements that read an actor.

/** Kinds of `actor_image`. */
export const actorImageTypes = { avatar: 1, banner: 2 } as const

export type ActorImageType = (typeof actorImageTypes)[keyof typeof actorImageTypes]

export interface ActorImageRow {
  filename: string
  /** px */
  width: number | null
  height: number | null
  file_url: string | null
  created_at: string
  updated_at: string
}

/** SQL for the images of an actor as an array of `ActorImageRow`, the smallest first. `actor` is an alias of its row. */
export const imagesOf = (actor: string, type: ActorImageType): string =>
  `(select coalesce(jsonb_agg(jsonb_build_object('filename', i.filename, 'width', i.width, 'height', i.height,
     'file_url', i.file_url, 'created_at', i.created_at, 'updated_at', i.updated_at) order by i.width, i.id), '[]')
   from actor_image i where i.actor_id = ${actor}.id and i.type = ${type})`
