// Schemas of the objects in lists: sentinels, redundancy strategies, thumbnail sizes, login providers.

import { z } from 'zod'
import { inside } from '../kinds.ts'

export const sentinelAddress = z.object({
  hostname: z.string(),
  port: inside.integer.default(26_379),
})

export const redundancyStrategy = z.object({
  strategy: z.enum(['most-views', 'trending', 'recently-added']),
  /** Bytes. */
  size: inside.size,
  /** Milliseconds. */
  min_lifetime: inside.duration,
  min_views: inside.integer.optional(),
})

/** Pixels. */
export const imageSize = z.object({ width: inside.integer, height: inside.integer })

/** Of texts and lists of login providers, which administrators may send. */
const LONGEST = 1000
const text = z.string().max(LONGEST)
const address = z.url({ protocol: /^https?$/ }).max(LONGEST)
const groups = z.array(text).max(LONGEST).default([])

const providerRules = {
  /** Part of addresses. */
  name: z.string().regex(/^[a-z0-9-]{1,40}$/),
  /** True if somebody may take over the account here with the same verified address. */
  link_by_email: z.boolean().default(false),
  /** Groups that may log in; none: everybody. */
  allowed_groups: groups,
  administrator_groups: groups,
  moderator_groups: groups,
}

export const openIdProvider = z.strictObject({
  ...providerRules,
  /** What the login page shows. */
  label: z.string().min(1).max(100),
  /** The issuer, or its document `/.well-known/openid-configuration`. */
  discovery_url: address,
  client_id: text.min(1),
  client_secret: text.nullable().default(null),
  scopes: z
    .string()
    .max(LONGEST)
    .regex(/(?:^| )openid(?: |$)/)
    .default('openid profile email'),
  pkce: z.boolean().default(true),
  /** Where the provider sends the browser after a logout, as registered there; null: it stays there. */
  post_logout_redirect_uri: address.nullable().default(null),
  /** True if addresses count as verified that the provider does not call so. */
  trust_email: z.boolean().default(false),
  /** Names of claims; dots lead into objects. */
  claims: z
    .strictObject({
      username: text.default('preferred_username'),
      email: text.default('email'),
      display_name: text.default('name'),
      groups: text.default('groups'),
      quota: text.nullable().default(null),
    })
    .prefault({}),
})

export const ldapProvider = z.strictObject({
  ...providerRules,
  url: text.regex(/^ldaps?:\/\/[^/\s]+\/?$/),
  start_tls: z.boolean().default(false),
  /** File with the certificates of trusted authorities (PEM); null: the usual ones. */
  ca: text.nullable().default(null),
  /** The account that searches; empty: none. */
  bind_dn: text.default(''),
  bind_password: text.default(''),
  search_base: text,
  filter: text.includes('{username}').default('(uid={username})'),
  /** Addresses in a directory are those of its administrator. */
  trust_email: z.boolean().default(true),
  attributes: z
    .strictObject({
      id: text.default('entryUUID'),
      username: text.default('uid'),
      email: text.default('mail'),
      display_name: text.default('cn'),
      groups: text.default('memberOf'),
      quota: text.nullable().default(null),
    })
    .prefault({}),
})
