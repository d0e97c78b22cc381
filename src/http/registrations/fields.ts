// Fields of those who register, and of those who decide on it.

import { z } from 'zod'
import { idText } from '../plugins/schemas.ts'

/** Names of local users and of the channels they begin with. */
const localName = z
  .string()
  .max(50)
  .regex(/^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/, 'Should have a name of small letters, digits, _ . and -')

export const newPassword = z.string().min(6).max(255)

const emailAddress = z.email('Should have an e-mail address').max(254)

const displayName = z.string().min(1).max(120)

export const registerBody = z.object({
  username: localName,
  password: newPassword,
  email: emailAddress,
  displayName: displayName.nullish(),
  channel: z.object({ name: localName, displayName }).nullish(),
})

export const requestBody = registerBody.extend({ registrationReason: z.string().min(2).max(3000) })

export const decisionBody = z.object({
  moderationResponse: z.string().min(2).max(3000),
  preventEmailDelivery: z.boolean().optional(),
})

export const askBody = z.object({ email: emailAddress })

/** Longer than every secret in a link. */
const LONGEST_SECRET = 2000

export const verificationString = z.string().min(1).max(LONGEST_SECRET)

export const registrationParam = z.object({ registrationId: idText.pipe(z.int().min(1, 'Should have a valid id')) })
