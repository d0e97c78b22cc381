// A known server; its reachability is the machine `remote-host`.

import { defineEntity, p } from '@mikro-orm/postgresql'
import { TextArray } from '../../platform/database/index.ts'
import type { RemoteHostState } from '../../state-machines/remote-host.ts'

const RemoteHostSchema = defineEntity({
  name: 'RemoteHost',
  tableName: 'remote_host',
  properties: {
    id: p.integer().primary(),
    host: p.text(),
    state: p.text().$type<RemoteHostState>(),
    context: p.json<Record<string, unknown>>(),
    /** When it is retried; null if it may be tried now, or is dormant. */
    dueAt: p.datetime(3).nullable(),
    software: p.text().nullable(),
    softwareVersion: p.text().nullable(),
    /** The signature profile that last worked. */
    signatureProfile: p.text(),
    /** `type` values that it refuses with 400: not sent again. */
    unsupportedTypes: p.type(TextArray),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
    // Accessed in SQL only:
    lastError: p.text().nullable().lazy(),
    lastErrorAt: p.datetime(3).nullable().lazy(),
    lastSuccessAt: p.datetime(3).nullable().lazy(),
    redundancyAllowed: p.boolean().defaultRaw('false').lazy(),
    softwareCheckedAt: p.datetime(3).nullable().lazy(),
  },
})

export class RemoteHost extends RemoteHostSchema.class {}
RemoteHostSchema.setClass(RemoteHost)
