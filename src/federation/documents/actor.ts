// The document of a local actor, from its row.

import type { Actor } from '../../actors/actor/index.ts'
import type { ActorImage } from '../../actors/actor-image/index.ts'
import type { Config } from '../../config/index.ts'
import type { Columns, Sql } from '../../platform/database/index.ts'
import type { Urls } from '../urls.ts'
import { buildActor, type ImageDocument, type JsonObject } from '../wire/index.ts'
import { imageType } from './media-types.ts'

/** `kind` is that of the path: the instance is among the accounts. */
export type ActorWhere = { id: number } | { url: string } | { name: string; kind: 'account' | 'channel' }

type ImageRow = Columns<typeof ActorImage, 'type' | 'filename' | 'width' | 'height' | 'fileUrl'>

interface ActorRow extends Columns<Actor, 'type' | 'url' | 'publicKeyPem' | 'ed25519Public' | 'createdAt'> {
  username: string
  name: string | null
  description: string | null
  support: string | null
  owner_url: string | null
  images: ImageRow[]
}

const AVATAR = 1
const IMAGES = { [AVATAR]: 'avatars', 2: 'banners' } as const

/** The document; null if no local actor has this name. One statement. */
export async function actorDocument(query: Sql, urls: Urls, config: Config, where: ActorWhere): Promise<JsonObject | null> {
  const { condition, values } = conditionOf(where)
  const [row] = await query<ActorRow>(
    `select x.type, x.preferred_username as username, x.url, x.public_key_pem, x.ed25519_public, x.created_at,
       coalesce(a.name, c.name) as name, coalesce(a.description, c.description) as description, c.support,
       ox.url as owner_url,
       (select coalesce(jsonb_agg(jsonb_build_object('type', i.type, 'filename', i.filename, 'width', i.width,
          'height', i.height, 'file_url', i.file_url) order by i.width, i.id), '[]')
        from actor_image i where i.actor_id = x.id) as images
     from actor x
       left join account a on a.actor_id = x.id
       left join channel c on c.actor_id = x.id
       left join account o on o.id = c.account_id
       left join actor ox on ox.id = o.actor_id
     where ${condition} and x.host_id is null and x.deleted_at is null`,
    values,
  )
  return row && row.public_key_pem !== null ? documentOf(row, row.public_key_pem, urls, config) : null
}

function conditionOf(where: ActorWhere): { condition: string; values: unknown[] } {
  if ('id' in where) return { condition: 'x.id = $1', values: [where.id] }
  if ('url' in where) return { condition: 'x.url_hash = md5($1)::uuid and x.url = $1', values: [where.url] }
  const ofKind = where.kind === 'channel' ? "x.type = 'Group'" : "x.type <> 'Group'"
  return { condition: `lower(x.preferred_username) = lower($1) and ${ofKind}`, values: [where.name] }
}

function documentOf(row: ActorRow, pem: string, urls: Urls, config: Config): JsonObject {
  const { type, username, url } = row
  const isInstance = type === 'Application'
  const imagesOf = (kind: 1 | 2): ImageDocument[] =>
    row.images
      .filter((image) => image.type === kind)
      .map(({ filename, width, height, file_url }) => ({
        url: file_url ?? `${urls.origin}/lazy-static/${IMAGES[kind]}/${filename}`,
        mediaType: imageType(filename),
        width,
        height,
      }))
  return buildActor({
    id: url,
    type,
    username,
    name: isInstance ? config.instance.name : (row.name ?? username),
    summary: isInstance ? config.instance.short_description : row.description,
    support: row.support,
    url,
    inbox: urls.actorCollection(url, 'inbox'),
    outbox: urls.actorCollection(url, 'outbox'),
    sharedInbox: urls.sharedInbox,
    followers: urls.actorCollection(url, 'followers'),
    following: urls.actorCollection(url, 'following'),
    playlists: urls.actorCollection(url, 'playlists'),
    publicKey: { id: urls.publicKey(url), owner: url, pem },
    multikeys: row.ed25519_public === null ? [] : [{ id: urls.proofKey(url), controller: url, publicKeyMultibase: row.ed25519_public }],
    icons: imagesOf(AVATAR),
    banners: imagesOf(2),
    attributedTo: row.owner_url === null ? [] : [row.owner_url],
    publishedAt: row.created_at,
    postingRestrictedToMods: type === 'Group' ? true : null,
    webfinger: `${username}@${urls.host}`,
    // Their content is public and listed here; the instance itself is not searchable.
    indexable: isInstance ? null : true,
    discoverable: isInstance ? null : true,
    manuallyApprovesFollowers: isInstance && config.followers.instance.manual_approval ? true : null,
  })
}
