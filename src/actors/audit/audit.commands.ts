// The audit log: who changed what, stored in the transaction of the change. The requester is set once per request; its units of work record
// their changes.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database, Sql } from '../../platform/database/index.ts'
import type { AggregateRef, ChangeObserver, ChangeObservers, Noted, Registry } from '../runtime/index.ts'
import { AUDITED_FIELDS } from './audited-fields.ts'

export interface Auditor {
  id: number
  username: string
  role: number
}

export interface Audit extends ChangeObservers {
  /** Changes during `work` and its consequences, except for those after a commit, are attributed to this user. */
  as(user: Auditor, work: () => void): void
}

/** One per server: tests run two of them in one process. */
export function makeAudit({ clock }: { clock: Clock }): Audit {
  const asking = new AsyncLocalStorage<Auditor | undefined>()

  return {
    as: (user, work) => asking.run(user, work),
    apart: (work) => asking.run(undefined, work),
    observer(query) {
      const user = asking.getStore()
      return user && makeChangeObserver(query, user, clock.now())
    },
  }
}

/** Records the changes of a unit of work. */
function makeChangeObserver(query: Sql, user: Auditor, at: Date): ChangeObserver {
  const noted: Noted[] = []
  const seen = new Map<string, { of: AggregateRef; before: string | null }>()

  return {
    async changing(of) {
      const portrait = AUDITED_FIELDS[of.aggregate]
      if (!portrait || seen.has(keyOf(of))) return
      const [row] = await query<{ before: string | null }>(`select (${drawn(portrait.sql, '$1')})::text as before`, [of.id])
      seen.set(keyOf(of), { of, before: row?.before ?? null })
    },

    created(of) {
      if (AUDITED_FIELDS[of.aggregate] && !seen.has(keyOf(of))) seen.set(keyOf(of), { of, before: null })
    },

    note: (done) => noted.push(done),

    async store() {
      if (seen.size + noted.length === 0) return
      const values: unknown[] = [at, user.id, user.username, user.role]
      const place = (value: unknown): string => `$${values.push(value)}`
      const drawings = [...seen.values()].flatMap(({ of, before }) => {
        const portrait = AUDITED_FIELDS[of.aggregate]
        if (!portrait) return []
        const id = `${place(of.id)}::bigint`
        return [`('${portrait.domain}', null, ${id}, ${place(before)}::jsonb, (${drawn(portrait.sql, id)}))`]
      })
      const notes = noted.map(
        ({ domain, action, id, entity }) =>
          `('${domain}', '${action}', ${place(id)}::bigint, null::jsonb, ${place(JSON.stringify(entity))}::jsonb)`,
      )
      await query(
        `insert into audit_log (at, user_id, username, role, domain, action, entity_id, entity, changes)
         select $1, $2, $3, $4, s.domain,
           coalesce(s.action, case when s.before is null then 'create' when s.after is null then 'delete' else 'update' end),
           s.id, coalesce(s.before, s.after),
           case when s.before is not null and s.after is not null then (
             select jsonb_object_agg(key, a.value) from jsonb_each(s.after) a full join jsonb_each(s.before) b using (key)
             where a.value is distinct from b.value) end
         from (values ${[...drawings, ...notes].join(', ')}) as s (domain, action, id, before, after)
         where s.before is distinct from s.after`,
        values,
      )
    },
  }
}

const keyOf = ({ aggregate, id }: AggregateRef): string => `${aggregate} ${id}`
const drawn = (sql: string, id: string): string => sql.replace('$id', () => id)

/** Deletes old rows. */
export function pruneAuditLog(deps: { db: Database; registry: Registry; clock: Clock; config: () => Config }): void {
  const { db, registry, clock, config } = deps
  registry.periodic('old-audit-log', {
    everyMs: () => TIDY_EVERY,
    async run() {
      const before = new Date(clock.now().getTime() - config().vireo.logs.keep_audit)
      await db.query('delete from audit_log where id in (select id from audit_log where at < $1 order by at, id limit 50000)', [before])
    },
  })
}

const TIDY_EVERY = 3_600_000
