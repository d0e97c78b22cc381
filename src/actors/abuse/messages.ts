// Messages between the reporter and the moderators about a report.

import type { Aliased, Columns, Database } from '../../platform/database/index.ts'
import { type ActorProfile, accountProfile } from '../actor/index.ts'
import { type ActorDeps, notFound, type Unit } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import type { AbuseMessage } from './abuse.entity.ts'
import { assertMayDiscuss, assertMayRemoveMessage, type GuardedAbuse, isReporter } from './abuse.policy.ts'

type By = NonNullable<Viewer>

export interface AbuseMessageRow extends Columns<typeof AbuseMessage, 'id' | 'message' | 'byModerator' | 'createdAt'> {
  /** Null if the account is removed. */
  account: ActorProfile | null
}

export type AbuseMessages = ReturnType<typeof makeAbuseMessages>

export function makeAbuseMessages({ db, tell }: ActorDeps) {
  async function guarded(query: Database['query'] | Unit['query'], abuseId: number, by: By): Promise<GuardedAbuse> {
    const [abuse] = await query<GuardedAbuse>(
      `select id, reporter_id as "reporterId", reporter_host_id is not null as "isRemote" from abuse where id = $1`,
      [abuseId],
    )
    if (!abuse) throw notFound('Abuse not found')
    assertMayDiscuss(abuse, by)
    return abuse
  }

  return {
    /** Oldest first. Throws `not_found`, `forbidden`, and `invalid` for a remote report, like the others. */
    async list(abuseId: number, by: By): Promise<AbuseMessageRow[]> {
      await guarded(db.query, abuseId, by)
      return await db.query<AbuseMessageRow>(
        `select m.id, m.message, m.by_moderator, m.created_at,
           case when a.id is not null then ${accountProfile('a', 'x')} end as account
         from abuse_message m left join account a on a.id = m.account_id left join actor x on x.id = a.actor_id
         where m.abuse_id = $1 order by m.id`,
        [abuseId],
      )
    },

    async add(abuseId: number, { text, by }: { text: string; by: By }): Promise<{ messageId: number }> {
      return await tell({ aggregate: 'abuse', id: abuseId }, async (unit) => {
        const abuse = await guarded(unit.query, abuseId, by)
        const [message] = await unit.query<Columns<typeof AbuseMessage, 'id'>>(
          `insert into abuse_message (abuse_id, account_id, by_moderator, message, created_at)
           values ($1, $2, $3, $4, $5) returning id`,
          [abuseId, by.accountId, !isReporter(abuse, by), text, unit.now],
        )
        const messageId = message?.id ?? 0
        unit.emit({ aggregate: 'abuse', id: abuseId }, 'AbuseMessageWritten', { abuseId, messageId })
        return { messageId }
      })
    },

    async remove(abuseId: number, messageId: number, by: By): Promise<void> {
      await tell({ aggregate: 'abuse', id: abuseId }, async (unit) => {
        await guarded(unit.query, abuseId, by)
        const [message] = await unit.query<Aliased<typeof AbuseMessage, 'accountId'>>(
          'select account_id as "accountId" from abuse_message where id = $1 and abuse_id = $2',
          [messageId, abuseId],
        )
        if (!message) throw notFound('Abuse message not found')
        assertMayRemoveMessage(message, by)
        await unit.query('delete from abuse_message where id = $1', [messageId])
      })
    },
  }
}
