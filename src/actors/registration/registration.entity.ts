// A registration request; its lifecycle is the machine `registration`.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { RegistrationContext, RegistrationState } from '../../state-machines/registration.ts'

const RegistrationSchema = defineEntity({
  name: 'Registration',
  tableName: 'registration',
  properties: {
    id: p.integer().primary(),
    state: p.text().$type<RegistrationState>(),
    context: p.json<RegistrationContext>(),
    username: p.text(),
    /** Null after the account is created. */
    passwordHash: p.text().nullable(),
    email: p.text(),
    accountDisplayName: p.text().nullable(),
    channelHandle: p.text().nullable(),
    channelDisplayName: p.text().nullable(),
    registrationReason: p.text(),
    moderationResponse: p.text().nullable(),
    userId: p.integer().nullable(),
    /** When it was decided. */
    processedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export class Registration extends RegistrationSchema.class {}
RegistrationSchema.setClass(Registration)
