// Logs for administrators, `/server/logs` and `/server/audit-logs`, and error reports of web clients, `/server/logs/client`.

import { z } from 'zod'
import { listAudit, pageOfAudit } from '../../actors/audit/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { pageOfLogFiles, searchLogFiles } from '../../platform/log-files/index.ts'
import { type Logger, tagged } from '../../platform/logger.ts'
import { clientIp } from '../plugins/client-ip.ts'
import { listOf, paging } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { auditQuery, clientLogBody, logHeadView, logLineView, logsQuery } from './schemas.ts'
import { clientLine, toAuditLineView, toLogHeadView, toLogLineView } from './views.ts'

export interface ServerLogsDeps {
  db: Database
  config: () => Config
  clock: Clock
  logger: Logger
  urls: { host: string }
}

const TAGS = ['Logs']
/** Bytes of log files that are read for a page. */
const PAGE_READ = 2_000_000

export function serverLogsArea({ db, config, clock, logger, urls }: ServerLogsDeps): Area {
  const manage = { right: 'MANAGE_LOGS' } as const
  const clients = tagged(logger, 'client')
  const inTurn = oneAtATime()
  const boundsOf = ({ logs }: Config['vireo']) => ({ maxChars: logs.max_chars, maxRead: logs.max_read })

  return (app) => {
    app.get(
      '/api/v1/server/logs',
      { config: manage, schema: { tags: TAGS, querystring: logsQuery, response: { 200: z.array(logLineView) } } },
      async ({ query: { startDate, endDate, level, tagsOneOf } }) => {
        const { storage, vireo } = config()
        const search = { from: startDate, to: endDate ?? clock.now(), level, tagsOneOf }
        const lines = await inTurn(() => searchLogFiles(storage.logs, search, boundsOf(vireo)))
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

    app.get(
      '/api/v1/vireo/logs',
      {
        config: manage,
        schema: {
          operationId: 'listLogs',
          summary: 'List lines of the log without their details, the newest first',
          description:
            'While there are older lines, `total` is only larger than `start` + `count`. A search through many lines ends early: `searchedTo` is the time of the last one, and the `endDate` of the search that goes on. Of many lines of one millisecond the rest may be left out then.',
          tags: TAGS,
          querystring: logsQuery.extend(paging(config())),
          response: { 200: listOf(logHeadView).extend({ searchedTo: z.iso.datetime().optional() }) },
        },
      },
      async ({ query: { startDate, endDate, level, tagsOneOf, ...page } }) => {
        const { storage, vireo } = config()
        const search = { from: startDate, to: endDate ?? clock.now(), level, tagsOneOf }
        const { maxChars, maxRead } = boundsOf(vireo)
        const bounds = { maxChars, maxRead: Math.min(maxRead, PAGE_READ) }
        const { total, lines, searchedTo } = await inTurn(() => pageOfLogFiles(storage.logs, search, bounds, page))
        const data = lines.map((line) => toLogHeadView(toLogLineView(line, urls.host)))
        return { total, data, ...(searchedTo ? { searchedTo: searchedTo.toISOString() } : {}) }
      },
    )

    app.get(
      '/api/v1/vireo/audit-logs',
      {
        config: manage,
        schema: {
          operationId: 'listAuditLogs',
          summary: 'List changes by the staff and users, the newest first',
          tags: TAGS,
          querystring: auditQuery.extend(paging(config())),
          response: { 200: listOf(logHeadView) },
        },
      },
      async ({ query: { startDate, endDate, ...page } }) => {
        const { total, rows } = await pageOfAudit(db.query, { from: startDate, to: endDate ?? clock.now(), ...page })
        return { total, data: rows.map((row) => toLogHeadView(toAuditLineView(row, urls.host))) }
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
