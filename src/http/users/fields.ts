// Fields of local users and their first channels, in all requests (contract, fields.user).

import { z } from 'zod'
import { canonicalAddress, isMailAddress, LONGEST_ADDRESS } from '../../platform/mail-address.ts'
import { readable } from '../plugins/schemas.ts'

/** Names of users and of channels. */
export const localName = z
  .string()
  .min(1)
  .max(50)
  .regex(/^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/, 'Should have a name of small letters, digits, _ . and -')

export const emailAddress = z
  .string()
  .max(LONGEST_ADDRESS)
  .refine(isMailAddress, 'Should have an e-mail address')
  .overwrite(canonicalAddress)
  .meta({ format: 'email' })

export const newPassword = z.string().min(6).max(255)

export const displayName = readable(z.string().min(1).max(120), 'Should have a name that can be read')
