// Actors: the instance (Application), accounts (Person), channels (Group), and those of other software.

import { z } from 'zod'
import { type JsonObject, withContext } from './context.ts'
import { buildImage, type ImageDocument, images } from './image.ts'
import {
  BOUNDS,
  hrefOf,
  httpUrl,
  iri,
  iris,
  listOf,
  ofType,
  optional,
  optionalBoolean,
  optionalDate,
  optionalIri,
  optionalText,
  type Read,
  readWith,
} from './read.ts'

export type ActorType = 'Person' | 'Group' | 'Application' | 'Service' | 'Organization'

/** An Ed25519 key (FEP-521a). */
export interface MultikeyDocument {
  id: string
  controller: string
  publicKeyMultibase: string
}

export interface ActorDocument {
  id: string
  type: ActorType
  username: string
  /** The display name, or the user name. */
  name: string
  summary: string | null
  support: string | null
  /** The HTML page. */
  url: string | null
  inbox: string
  outbox: string | null
  sharedInbox: string | null
  followers: string | null
  following: string | null
  playlists: string | null
  publicKey: { id: string; owner: string; pem: string }
  multikeys: MultikeyDocument[]
  /** Avatars, smallest first. */
  icons: ImageDocument[]
  /** Banners. */
  banners: ImageDocument[]
  /** A channel's accounts. */
  attributedTo: string[]
  publishedAt: Date | null
  /** True if only its moderators may post (Lemmy), as in channels. */
  postingRestrictedToMods: boolean | null
  /** `acct` address without the scheme (FEP-2c59). */
  webfinger: string | null
  /** Consent to be found by search (FEP-5feb) and in directories. */
  indexable: boolean | null
  discoverable: boolean | null
  manuallyApprovesFollowers: boolean | null
}

const USERNAME = /^[a-zA-Z0-9\-_.:]{1,200}$/
const PEM = /^\s*-----BEGIN (RSA )?PUBLIC KEY-----/

const publicKey = z.object({ id: httpUrl, owner: iri, publicKeyPem: z.string().max(5000).regex(PEM) })

const multikey = z
  .object({ id: httpUrl, type: ofType('Multikey'), controller: iri, publicKeyMultibase: z.string().max(2000) })
  .transform(({ id, controller, publicKeyMultibase }) => ({ id, controller, publicKeyMultibase }))

const schema = z
  .object({
    id: httpUrl,
    type: ofType('Person', 'Group', 'Application', 'Service', 'Organization'),
    preferredUsername: z.string().regex(USERNAME),
    name: optionalText(BOUNDS.shortText),
    summary: optionalText(BOUNDS.text),
    support: optionalText(BOUNDS.text),
    url: z
      .unknown()
      .optional()
      .transform((value) => hrefOf(value) ?? null),
    inbox: iri,
    outbox: optionalIri,
    followers: optionalIri,
    following: optionalIri,
    playlists: optionalIri,
    endpoints: optional(z.object({ sharedInbox: optionalIri })),
    publicKey: z.preprocess((value) => (Array.isArray(value) ? value[0] : value), publicKey),
    assertionMethod: listOf<MultikeyDocument>(multikey, BOUNDS.keys),
    icon: images,
    image: images,
    attributedTo: iris(BOUNDS.attributions),
    published: optionalDate,
    postingRestrictedToMods: optionalBoolean,
    webfinger: optionalText(BOUNDS.shortText),
    indexable: optionalBoolean,
    discoverable: optionalBoolean,
    manuallyApprovesFollowers: optionalBoolean,
  })
  .refine((actor) => actor.publicKey.owner === actor.id, 'the key belongs to another actor')
  .transform(
    (actor): ActorDocument => ({
      id: actor.id,
      type: actor.type as ActorType,
      username: actor.preferredUsername,
      name: actor.name ?? actor.preferredUsername,
      summary: actor.summary,
      support: actor.support,
      url: actor.url,
      inbox: actor.inbox,
      outbox: actor.outbox,
      sharedInbox: actor.endpoints?.sharedInbox ?? null,
      followers: actor.followers,
      following: actor.following,
      playlists: actor.playlists,
      publicKey: { id: actor.publicKey.id, owner: actor.publicKey.owner, pem: actor.publicKey.publicKeyPem },
      multikeys: actor.assertionMethod.filter((key) => key.controller === actor.id),
      icons: actor.icon,
      banners: actor.image,
      attributedTo: actor.attributedTo,
      publishedAt: actor.published,
      postingRestrictedToMods: actor.postingRestrictedToMods,
      webfinger: actor.webfinger,
      indexable: actor.indexable,
      discoverable: actor.discoverable,
      manuallyApprovesFollowers: actor.manuallyApprovesFollowers,
    }),
  )

/** Reads an actor. Its key must be its own. */
export const readActor = (document: unknown): Read<ActorDocument> => readWith(schema, document)

export type ActorDocumentInput = ActorDocument

/** The document of a local actor. */
export function buildActor(input: ActorDocumentInput): JsonObject {
  const given = (name: string, value: unknown) => (value === null ? {} : { [name]: value })
  return withContext('actor', {
    type: input.type,
    id: input.id,
    ...given('following', input.following),
    ...given('followers', input.followers),
    ...given('playlists', input.playlists),
    inbox: input.inbox,
    ...given('outbox', input.outbox),
    preferredUsername: input.username,
    ...given('url', input.url),
    name: input.name,
    ...(input.sharedInbox === null ? {} : { endpoints: { sharedInbox: input.sharedInbox } }),
    publicKey: { id: input.publicKey.id, owner: input.publicKey.owner, publicKeyPem: input.publicKey.pem },
    ...(input.multikeys.length === 0 ? {} : { assertionMethod: input.multikeys.map((key) => ({ ...key, type: 'Multikey' })) }),
    ...(input.publishedAt === null ? {} : { published: input.publishedAt.toISOString() }),
    ...(input.icons.length === 0 ? {} : { icon: input.icons.map(buildImage) }),
    ...(input.banners.length === 0 ? {} : { image: input.banners.map(buildImage) }),
    summary: input.summary,
    ...(input.type === 'Group' ? { support: input.support } : given('support', input.support)),
    ...given('postingRestrictedToMods', input.postingRestrictedToMods),
    ...(input.attributedTo.length === 0 ? {} : { attributedTo: input.attributedTo.map((id) => ({ type: 'Person', id })) }),
    ...given('webfinger', input.webfinger),
    ...given('indexable', input.indexable),
    ...given('discoverable', input.discoverable),
    ...given('manuallyApprovesFollowers', input.manuallyApprovesFollowers),
  })
}
