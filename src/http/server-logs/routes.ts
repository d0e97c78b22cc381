// Logs for administrators, `/server/logs` and `/server/audit-logs`, and error reports of web clients, `/server/logs/client`.

import { z } from 'zod'
import { listAudit } from '../../actors/audit/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { searchLogFiles } from '../../platform/log-files/index.ts'
import { type Logger, tagged } from '../../platform/logger.ts'
import { clientIp } from '../plugins/client-ip.ts'
import type { Area } from '../plugins/types.ts'
import { auditQuery, clientLogBody, logLineView, logsQuery } from './schemas.ts'
import { clientLine, toAuditLineView, toLogLineView } from './views.ts'

export interface ServerLogsDeps {
  db: Database
  config: () => Config
  clock: Clock
  logger: Logger
  urls: { host: string }
}

const TAGS = ['Logs']

export function serverLogsArea({ db, config, clock, logger, urls }: ServerLogsDeps): Area {
  const manage = { right: 'MANAGE_LOGS' } as const
  const clients = tagged(logger, 'client')
  const inTurn = oneAtATime()

  return (app) => {
    app.get(
      '/api/v1/server/logs',
      { config: manage, schema: { tags: TAGS, querystring: logsQuery, response: { 200: z.array(logLineView) } } },
      async ({ query: { startDate, endDate, level, tagsOneOf } }) => {
        const { storage, vireo } = config()
        const search = { from: startDate, to: endDate ?? clock.now(), level, tagsOneOf }
        const bounds = { maxChars: vireo.logs.max_chars, maxRead: vireo.logs.max_read }
        const lines = await inTurn(() => searchLogFiles(storage.logs, search, bounds))
        return lines.map((line) => toLogLineView(line, urls.host))
      },
    )

    app.get(
      '/api/v1/server/audit-logs',
      { config: manage, schema: { tags: TAGS, querystring: auditQuery, response: { 200: z.array(logLineView) } } },
      async ({ query: { startDate, endDate } }) => {
        const rows = await listAudit(db.query, {
          from: startDate,
          to: endDate ?? clock.now(),
          maxChars: config().vireo.logs.max_chars,
        })
        return rows.map((row) => toAuditLineView(row, urls.host))
      },
    )

    app.post(
      '/api/v1/server/logs/client',
      {
        config: { auth: 'optional', limits: ['receive_client_log'] },
        preValidation: async () => {
          if (!config().log.accept_client_log) throw new DomainError('forbidden', 'This server does not accept logs of clients.')
        },
        schema: { tags: TAGS, body: clientLogBody, response: { 204: z.null() } },
      },
      async (request, reply) => {
        const { message, details } = clientLine(request.body, {
          userId: request.session?.user.id,
          ip: clientIp(request),
          anonymize: config().log.anonymize_ip,
        })
        clients[request.body.level](details, message)
        return reply.code(204).send(null)
      },
    )
  }
}

/** Searches read much, so they run one at a time in each process. */
function oneAtATime(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work)
    last = mine.catch(() => undefined)
    return mine
  }
}
