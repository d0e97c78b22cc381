// Avatars and banners of actors: columns for statements that read an actor.

import type { Columns, MaybeInJson } from '../../platform/database/index.ts'
import type { ActorImage } from '../actor-image/actor-image.entity.ts'

/** Kinds of `actor_image`. */
export const actorImageTypes = { avatar: 1, banner: 2 } as const

export type ActorImageType = (typeof actorImageTypes)[keyof typeof actorImageTypes]

export type ActorImageRow = MaybeInJson<Columns<typeof ActorImage, 'filename' | 'width' | 'height' | 'fileUrl' | 'createdAt' | 'updatedAt'>>

/** SQL for the images of an actor as an array of `ActorImageRow`, the smallest first. `actor` is an alias of its row. */
export const imagesOf = (actor: string, type: ActorImageType): string =>
  `(select coalesce(jsonb_agg(jsonb_build_object('filename', i.filename, 'width', i.width, 'height', i.height,
     'file_url', i.file_url, 'created_at', i.created_at, 'updated_at', i.updated_at) order by i.width, i.id), '[]')
   from actor_image i where i.actor_id = ${actor}.id and i.type = ${type})`
