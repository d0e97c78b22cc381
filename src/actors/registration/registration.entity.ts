// A request for an account; its lifecycle is the machine `registration`.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { RegistrationContext, RegistrationState } from '../../state-machines/registration.ts'

const RegistrationSchema = defineEntity({
  name: 'Registration',
  tableName: 'registration',
  properties: {
    id: p.integer().primary(),
    state: p.string().$type<RegistrationState>(),
    context: p.json<RegistrationContext>(),
    username: p.string(),
    /** Null once the account is made. */
    passwordHash: p.string().nullable(),
    email: p.string(),
    accountDisplayName: p.string().nullable(),
    channelHandle: p.string().nullable(),
    channelDisplayName: p.string().nullable(),
    registrationReason: p.string(),
    moderationResponse: p.string().nullable(),
    userId: p.integer().nullable(),
    /** When it was decided. */
    processedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
})

export class Registration extends RegistrationSchema.class {}
RegistrationSchema.setClass(Registration)
