// A registration request, as REST clients read it.

import { z } from 'zod'
import type { RegistrationRow } from '../../actors/registration/index.ts'

export const registrationView = z
  .object({
    id: z.int(),
    state: z.object({ id: z.int(), label: z.string() }),
    registrationReason: z.string(),
    moderationResponse: z.string().nullable(),
    username: z.string(),
    email: z.string(),
    emailVerified: z.boolean().nullable(),
    accountDisplayName: z.string().nullable(),
    channelHandle: z.string().nullable(),
    channelDisplayName: z.string().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    user: z.object({ id: z.int() }).nullable(),
  })
  .meta({ id: 'UserRegistration' })

const STATE_LABELS = ['', 'Pending', 'Rejected', 'Accepted']

export const toRegistrationView = (row: RegistrationRow): z.infer<typeof registrationView> => ({
  id: row.id,
  state: { id: row.state_id, label: STATE_LABELS[row.state_id] ?? '' },
  registrationReason: row.registration_reason,
  moderationResponse: row.moderation_response,
  username: row.username,
  email: row.email,
  emailVerified: row.context.emailVerified,
  accountDisplayName: row.account_display_name,
  channelHandle: row.channel_handle,
  channelDisplayName: row.channel_display_name,
  createdAt: new Date(row.created_at).toISOString(),
  updatedAt: new Date(row.updated_at).toISOString(),
  user: row.user_id === null ? null : { id: row.user_id },
})
