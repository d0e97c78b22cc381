// Fields of registrations, and of decisions about them.

import { z } from 'zod'
import type { Applicant } from '../../actors/registration/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import { idText, readable } from '../plugins/schemas.ts'
import { displayName, emailAddress, localName, newPassword } from '../users/fields.ts'

export const registerBody = z.object({
  username: localName,
  password: newPassword,
  email: emailAddress,
  displayName: displayName.nullish(),
  channel: z.object({ name: localName, displayName }).nullish(),
})

export const requestBody = registerBody.extend({ registrationReason: readable(z.string().min(2).max(3000)) })

/** Throws `invalid` if account and channel have the same name: both are actors. */
export function applicantOf({ channel, ...body }: z.infer<typeof registerBody>): Applicant {
  if (channel?.name === body.username) {
    throw new DomainError('invalid', 'Channel name cannot be the same as user username.')
  }
  return { ...body, channel: channel ?? undefined }
}

export const decisionBody = z.object({
  moderationResponse: readable(z.string().min(2).max(3000)),
  preventEmailDelivery: z.boolean().optional(),
})

export const askBody = z.object({ email: emailAddress })

/** Longer than any secret in a link. */
const LONGEST_SECRET = 2000

export const verificationString = z.string().min(1).max(LONGEST_SECRET)

export const registrationParam = z.object({ registrationId: idText.pipe(z.int().min(1, 'Should have a valid id')) })
