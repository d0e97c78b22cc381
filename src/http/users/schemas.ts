// Bodies and queries of the routes of users.

import { z } from 'zod'
import type { Config } from '../../config/index.ts'
import { booleanText, idText, paging, readable, sorting } from '../plugins/schemas.ts'
import { emailAddress, localName, newPassword } from './fields.ts'

const role = z.literal([0, 1, 2], 'Should be a role')
const adminFlags = z.literal([0, 1], 'Should be admin flags')
/** Bytes; -1 for no limit. */
const quota = z.int().min(-1)

export const userId = z.object({ id: idText })

export const usersQuery = (config: Config) =>
  z.object({
    ...paging(config),
    sort: sorting(['id', 'username', 'videoQuotaUsed', 'createdAt', 'lastLoginDate', 'role'], '-createdAt'),
    search: z.string().max(1000).optional(),
    // Any value other than a false one counts as true, as clients expect.
    blocked: z
      .string()
      .transform((text) => text !== 'false' && text !== '0')
      .optional()
      .meta({ type: 'boolean' }),
  })

export const userQuery = z.object({ withStats: booleanText.optional() })

export const newUserBody = z.object({
  username: localName,
  // Empty: the user chooses one by a link in a mail.
  password: z.union([z.literal(''), newPassword], 'Should be a password of 6 to 255 characters'),
  email: emailAddress,
  role,
  videoQuota: quota.optional(),
  videoQuotaDaily: quota.optional(),
  channelName: localName.optional(),
  adminFlags: adminFlags.optional(),
})

export const userChangesBody = z.object({
  email: emailAddress.optional(),
  emailVerified: z.boolean().optional(),
  videoQuota: quota.optional(),
  videoQuotaDaily: quota.optional(),
  role: role.optional(),
  adminFlags: adminFlags.optional(),
  pluginAuth: z.string().max(255).nullish(),
  password: newPassword.optional(),
})

export const blockBody = z.object({ reason: readable(z.string().min(3).max(250)).nullish() }).nullish()

export const autocompleteQuery = z.object({ search: z.string().max(1000).default('') })
