// Fields of local users and their first channels, wherever they are asked for (contract, fields.user).

import { z } from 'zod'
import { readable } from '../plugins/schemas.ts'

/** Names of users and of channels. */
export const localName = z
  .string()
  .min(1)
  .max(50)
  .regex(/^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/, 'Should have a name of small letters, digits, _ . and -')

/** The longest that mail servers take (RFC 5321, 4.5.3.1.3). */
const LONGEST_ADDRESS = 254

export const emailAddress = z.email('Should have an e-mail address').max(LONGEST_ADDRESS)

export const newPassword = z.string().min(6).max(255)

export const displayName = readable(z.string().min(1).max(120), 'Should have a name that can be read')
