// Reports of remote content, sent to its server with the reporter and the reason, but without moderators' notes. Timestamps in the video
// are not JSON-LD terms, so the document could not carry an inner signature either.

import { type Abuse, predefinedReasonNames } from '../../actors/abuse/index.ts'
import { inboxOf } from '../../actors/delivery/index.ts'
import type { Aliased } from '../../platform/database/index.ts'
import type { FederationDeps } from '../deps.ts'
import { buildFlag } from '../wire/index.ts'
import type { Sender } from './sender.ts'

interface ReportedRow extends Aliased<typeof Abuse, 'url' | 'objectUrl' | 'reason' | 'startAt' | 'endAt' | 'predefinedReasons'> {
  reporterActorId: number
  reporterUrl: string
  reporteeActorId: number
  reporteeUrl: string
}

export function sendFlags({ registry }: FederationDeps, { send }: Sender): void {
  registry.on('AbuseReported', 'federation', async ({ abuseId }, unit) => {
    const [report] = await unit.query<ReportedRow>(
      `select r.url, r.object_url as "objectUrl", r.reason, r.predefined_reasons as "predefinedReasons",
         r.start_at as "startAt", r.end_at as "endAt", x.id as "reporterActorId", x.url as "reporterUrl",
         y.id as "reporteeActorId", y.url as "reporteeUrl"
       from abuse r join account a on a.id = r.reporter_id join actor x on x.id = a.actor_id and x.host_id is null
         join account b on b.id = r.reportee_id join actor y on y.id = b.actor_id and y.host_id is not null
       where r.id = $1`,
      [abuseId],
    )
    if (!report) return
    const { url, objectUrl, reason, startAt, endAt, reporterActorId, reporterUrl, reporteeActorId, reporteeUrl } = report
    const activity = buildFlag({
      id: url,
      actor: reporterUrl,
      to: [reporteeUrl],
      cc: [],
      startAt,
      endAt,
      content: reason,
      mediaType: 'text/markdown',
      objects: [objectUrl],
      reasons: predefinedReasonNames(report.predefinedReasons),
    })
    const recipients = await inboxOf(unit.query, reporteeActorId, { personal: false })
    await send(unit, { activity, senderId: reporterActorId, recipients, isSignedInside: false })
  })
}
