// A server that we know; whether it can be reached is the machine `remote-host`.

import { defineEntity, p } from '@mikro-orm/postgresql'
import { TextArray } from '../../platform/database/index.ts'

const RemoteHostSchema = defineEntity({
  name: 'RemoteHost',
  tableName: 'remote_host',
  properties: {
    id: p.integer().primary(),
    host: p.string(),
    state: p.string(),
    context: p.json<Record<string, unknown>>(),
    dueAt: p.datetime().nullable(),
    software: p.string().nullable(),
    softwareVersion: p.string().nullable(),
    /** How it wants requests signed: what worked last. */
    signatureProfile: p.string(),
    /** `type` values that it answers with 400: not sent again. */
    unsupportedTypes: p.type(TextArray),
    createdAt: p.datetime(),
    updatedAt: p.datetime(),
  },
})

export class RemoteHost extends RemoteHostSchema.class {}
RemoteHostSchema.setClass(RemoteHost)
