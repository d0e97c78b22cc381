// Queries and bodies of the instance's follows.

import { z } from 'zod'
import type { Config } from '../../config/index.ts'
import { isHost, readHost, splitHandle } from '../plugins/handles.ts'
import { oneOrMore, paging, sorting } from '../plugins/schemas.ts'

const isUnique = (items: string[]): boolean => new Set(items).size === items.length

export const followBody = (config: () => Config) =>
  z.object({
    hosts: oneOrMore(z.string().transform(readHost))
      .optional()
      .refine((hosts = []) => isUnique(hosts) && hosts.every((host) => isHost(host, config())), 'Should have an array of unique hosts'),
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

export const hostOrHandleParam = (config: () => Config) =>
  z.object({
    hostOrHandle: z.string().transform((text, context) => {
      const handle = splitHandle(text, config())
      if (handle) return { ...handle, text }
      const host = readHost(text)
      if (isHost(host, config())) return { name: null, host, text: host }
      context.issues.push({ code: 'custom', input: text, message: 'Should have a host or a handle' })
      return z.NEVER
    }),
  })
