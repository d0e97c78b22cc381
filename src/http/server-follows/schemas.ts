// Queries and bodies of the instance's follows.

import { z } from 'zod'
import type { Config } from '../../config/index.ts'
import { oneOrMore, paging, sorting } from '../plugins/schemas.ts'

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const HOST = new RegExp(`^(?:${LABEL}\\.)*${LABEL}\\.?(?::\\d{1,5})?$`, 'i')
const PUBLIC_HOST = new RegExp(`^(?:${LABEL}\\.)+[a-z][a-z0-9-]*[a-z0-9](?::\\d{1,5})?$`, 'i')
const NAME = /^[a-z0-9_.-]{1,200}$/i

/** Hosts that are no public names or have plain addresses count only where such peers are allowed. */
export const isHost = (text: string, config: Config): boolean =>
  (config.vireo.federation.allow_private_addresses ? HOST : PUBLIC_HOST).test(text) &&
  Number(text.split(':')[1] ?? 1) <= 65_535

/** `name@host` in its two parts; undefined when it is none. */
export function splitHandle(text: string, config: Config): { name: string; host: string } | undefined {
  const at = text.lastIndexOf('@')
  const name = text.slice(0, at).replace(/^@/, '')
  const host = text.slice(at + 1)
  return at > 0 && NAME.test(name) && isHost(host, config) ? { name, host } : undefined
}

const isUnique = (items: string[]): boolean => new Set(items).size === items.length

export const followBody = (config: () => Config) =>
  z.object({
    hosts: oneOrMore(z.string())
      .optional()
      .refine(
        (hosts = []) => isUnique(hosts) && hosts.every((host) => isHost(host, config())),
        'Should have an array of unique hosts',
      ),
    handles: oneOrMore(z.string())
      .optional()
      .refine(
        (handles = []) => isUnique(handles) && handles.every((handle) => splitHandle(handle, config())),
        'Should have an array of handles',
      ),
  })

const filters = {
  state: z.enum(['pending', 'accepted', 'rejected']).optional(),
  actorType: z.enum(['Person', 'Application', 'Group', 'Service', 'Organization']).optional(),
  search: z.string().max(500).optional(),
}

export const followersQuery = (config: Config) =>
  z.object({ ...paging(config), ...filters, sort: sorting(['createdAt', 'state', 'score'], '-createdAt') })

export const followingQuery = (config: Config) =>
  z.object({ ...paging(config), ...filters, sort: sorting(['createdAt', 'redundancyAllowed', 'state'], '-createdAt') })

export const handleParam = (config: () => Config) =>
  z.object({
    nameWithHost: z.string().transform((text, context) => {
      const found = splitHandle(text, config())
      if (found) return { ...found, text }
      context.issues.push({ code: 'custom', input: text, message: 'Should have a handle such as name@example.com' })
      return z.NEVER
    }),
  })

/** The name of a server, with its port where that is not the usual one. */
export const hostText = (config: () => Config) =>
  z.string().refine((text) => isHost(text, config()), 'Should have a valid host')

export const hostOrHandleParam = (config: () => Config) =>
  z.object({
    hostOrHandle: z.string().transform((text, context) => {
      const handle = splitHandle(text, config())
      if (handle) return { ...handle, text }
      if (isHost(text, config())) return { name: null, host: text, text }
      context.issues.push({ code: 'custom', input: text, message: 'Should have a host or a handle' })
      return z.NEVER
    }),
  })
