// Reports of abuse, by local users and other servers, decided by moderators. The machine `abuse` decides which decisions are possible.

import type { Aliased } from '../../platform/database/index.ts'
import { type AbuseEvent, type AbuseState, abuseMachine, initialAbuse } from '../../state-machines/abuse.ts'
import { toPlainText } from '../comment/index.ts'
import { type ActorDeps, advanceRow, DomainError, defineLifecycle, notFound, type Unit } from '../runtime/index.ts'
import type { Abuse } from './abuse.entity.ts'
import { type AbuseKind, type AbuseSubject, concerningSubject, subjectSql } from './subject.ts'

export interface NewReport {
  /** Account of the reporter. */
  reporterId: number
  predefinedReasons: number[]
  /** Seconds of a video. */
  startAt: number | null
  endAt: number | null
}

interface RemoteReport extends NewReport {
  url: string
  objectUrls: string[]
  content: string
  mediaType: string
  mayTake: (facts: ReceivedReport) => boolean
}

/** Facts that decide whether a remote report is accepted. */
export interface ReceivedReport {
  /** True if the same person has a pending report of the same object. Instance actors report for many people. */
  isPending: boolean
  /** Reports of the host that were accepted in the last hour, and the limit. */
  inHour: number
  max: number
}

/** Characters. */
export const LONGEST_REASON = 3000
const HOUR_MS = 3_600_000

const EVENTS: Record<AbuseState, AbuseEvent['type']> = {
  pending: 'REOPENED',
  accepted: 'ACCEPTED',
  rejected: 'REJECTED',
}

const abuseLifecycle = defineLifecycle({ table: 'abuse', machine: abuseMachine, initial: initialAbuse })

const MISSING: Record<AbuseKind, string> = {
  video: 'Video not found',
  comment: 'Video comment thread not found',
  account: 'Account not found',
}

export type Abuses = ReturnType<typeof makeAbuses>

export function makeAbuses({ tell, config, urls }: ActorDeps) {
  /** Returns undefined if the subject is removed or was reported under this URL before. */
  async function store(
    unit: Unit,
    report: NewReport & { id: number; url: string; reason: string; subject: AbuseSubject },
  ): Promise<boolean> {
    const { id, url, reason, subject, startAt, endAt } = report
    const isTimed = subject.kind === 'video'
    const stored = await unit.query(
      `insert into abuse (id, url, kind, reason, predefined_reasons, start_at, end_at, created_at, updated_at,
         reporter_id, reporter_name, reporter_url, reporter_host_id,
         object_url, reported_id, video_id, comment_id, reportee_id, reportee_name, reportee_url,
         video_name, video_uuid, video_nsfw, commented_video_id, thread_id, comment_text,
         channel_id, channel_name, channel_display_name, channel_url)
       select $2::int, $3::text, $4::text, $5::text, $6::smallint[], $7::int, $8::int, $9::timestamptz, $9::timestamptz,
         r.id, rx.preferred_username, rx.url, rx.host_id, subject.*
       from (${subjectSql[subject.kind]}) subject, account r join actor rx on rx.id = r.actor_id where r.id = $10
       on conflict (url_hash, object_hash) do nothing returning id`,
      [
        subject.id,
        id,
        url,
        subject.kind,
        reason,
        report.predefinedReasons,
        isTimed ? startAt : null,
        isTimed ? endAt : null,
        unit.now,
        report.reporterId,
      ],
    )
    if (stored.length === 0) return false
    unit.emit({ aggregate: 'abuse', id }, 'AbuseReported', { abuseId: id })
    return true
  }

  async function nextId(unit: Unit): Promise<number> {
    const [row] = await unit.query<{ id: number }>("select nextval(pg_get_serial_sequence('abuse', 'id'))::int as id")
    if (!row) throw new Error('There is no number for this report.')
    return row.id
  }

  /** One report of a host after another, so that concurrent ones are counted too. */
  async function factsOf(unit: Unit, reporterId: number, subject: AbuseSubject): Promise<ReceivedReport> {
    const max = config().vireo.federation.inbox.reports_per_host
    await unit.query(
      `select pg_advisory_xact_lock(hashtext('reports of a host'), x.host_id)
       from account a join actor x on x.id = a.actor_id where a.id = $1 and x.host_id is not null`,
      [reporterId],
    )
    const [facts] = await unit.query<Omit<ReceivedReport, 'max'>>(
      `select (select count(*)::int from abuse r where r.reporter_host_id = x.host_id and r.created_at > $2) as "inHour",
         x.type <> 'Application' and exists (
           select 1 from abuse r where r.reporter_id = a.id and r.kind = $3 and r.reported_id = $4 and r.state = 'pending'
         ) as "isPending"
       from account a join actor x on x.id = a.actor_id where a.id = $1`,
      [reporterId, new Date(unit.now.getTime() - HOUR_MS), subject.kind, subject.id],
    )
    return { isPending: false, inHour: 0, ...facts, max }
  }

  async function refuseTooMany(unit: Unit, reporterId: number): Promise<void> {
    const max = config().vireo.abuses.reports_per_user
    await unit.query("select pg_advisory_xact_lock(hashtext('reports of a user'), $1)", [reporterId])
    const since = new Date(unit.now.getTime() - HOUR_MS)
    const [made] = await unit.query<{ count: number; first: Date | null }>(
      'select count(*)::int as count, min(created_at) as first from abuse where reporter_id = $1 and created_at > $2',
      [reporterId, since],
    )
    if (!made || made.count < max) return
    const seconds = Math.ceil(((made.first ?? unit.now).getTime() - since.getTime()) / 1000)
    throw new DomainError('too_many', 'You reported a lot just now: please report again later.', {
      headers: { 'Retry-After': String(Math.max(1, seconds)) },
    })
  }

  return {
    /** A local user reports. Throws `not_found`, and `too_many` over the hourly limit of a user; `isStaff` has no limit. */
    async report({ subject, isStaff, ...report }: NewReport & { subject: AbuseSubject; reason: string; isStaff: boolean }) {
      return await tell.create(async (unit) => {
        if (!isStaff) await refuseTooMany(unit, report.reporterId)
        const id = await nextId(unit)
        if (!(await store(unit, { ...report, subject, id, url: urls.report(id) }))) throw notFound(MISSING[subject.kind])
        unit.created({ aggregate: 'abuse', id })
        return { abuseId: id }
      })
    },

    /**
     * A remote actor reports. Ignores objects that are not local, repeated reports, and those that `mayTake` refuses, which is called per
     * object.
     */
    async receiveReport({ objectUrls, content, mediaType, startAt, endAt, mayTake, ...report }: RemoteReport): Promise<void> {
      const reason = toPlainText(content, mediaType, LONGEST_REASON)
      const isInOrder = startAt === null || endAt === null || endAt > startAt
      await tell.create(async (unit) => {
        for (const objectUrl of objectUrls) {
          const subject = await concerningSubject(unit.query, objectUrl)
          if (!subject) continue
          if (!mayTake(await factsOf(unit, report.reporterId, subject))) continue
          const times = isInOrder ? { startAt: inRange(startAt), endAt: inRange(endAt) } : { startAt: null, endAt: null }
          await store(unit, { ...report, ...times, reason, subject, id: await nextId(unit) })
        }
      })
    },

    /** A moderator (`byUserId`) decides, comments, or both. Throws `not_found`. */
    async moderate(
      abuseId: number,
      change: { state?: AbuseState | undefined; comment?: string | undefined; byUserId: number },
    ): Promise<void> {
      const { state, comment, byUserId } = change
      await tell({ aggregate: 'abuse', id: abuseId }, async (unit) => {
        const [abuse] = await unit.query<Aliased<typeof Abuse, 'id' | 'state' | 'processedAt'>>(
          `update abuse set moderation_comment = coalesce($2, moderation_comment), updated_at = $3 where id = $1
           returning id, state, processed_at as "processedAt"`,
          [abuseId, comment ?? null, unit.now],
        )
        if (!abuse) throw notFound('Abuse not found')
        if (state === undefined) return
        const processedAt = state === 'pending' ? abuse.processedAt : (abuse.processedAt ?? unit.now)
        const { changed } = await advanceRow(unit, abuseLifecycle, abuse, { type: EVENTS[state] }, { processedAt })
        if (!changed || state === 'pending') return
        unit.emit({ aggregate: 'abuse', id: abuseId }, 'AbuseDecided', { abuseId, byUserId })
      })
    },

    /** Throws `not_found`. */
    async remove(abuseId: number): Promise<void> {
      await tell({ aggregate: 'abuse', id: abuseId }, async (unit) => {
        await unit.query('delete from abuse where id = $1', [abuseId])
      })
    },
  }
}

const LARGEST = 2_147_483_647
const inRange = (seconds: number | null): number | null => (seconds !== null && seconds <= LARGEST ? seconds : null)
