// Which notifications go into which mail. The first of a kind goes at once; those that follow within a time wait, and go together when
// that is over. What waits is a mark of the notification, and the job of its mail is stored with it, due when the time is over.

import { type MailBatches, type Mailed, MOST_LISTED } from '../mail/index.ts'
import { type ActorDeps, unlessGone } from '../runtime/index.ts'
import { readMailed } from './mailed.ts'

const TIDY_EVERY_MS = 3_600_000

interface Found {
  userId: number
  type: number
}

interface State {
  job: number | null
  waits: boolean
  isMailed: boolean
  /** When the time of the mail before is over; null when there was none. */
  closesAt: Date | null
  othersWait: boolean
}

export function makeMailBatches(deps: ActorDeps): MailBatches {
  const { db, tell, registry, clock, config, urls } = deps

  registry.periodic('notification-mail-windows', {
    everyMs: () => TIDY_EVERY_MS,
    run: async () => {
      await db.query('delete from notification_mail_window where closes_at < $1', [clock.now()])
    },
  })

  const read = (of: Found, job: number): Promise<Mailed | undefined> =>
    readMailed(db, {
      ...of,
      ...{ job, host: urls.host, atMost: MOST_LISTED },
      verifiedOnly: config().signup.requires_email_verification,
    })

  const openWindow = `insert into notification_mail_window (user_id, type, closes_at) values ($1, $2, $3)
    on conflict (user_id, type) do update set closes_at = excluded.closes_at`
  const closing = (now: Date): Date => new Date(now.getTime() + config().vireo.notifications.mail_window)

  async function takeOne(notificationId: number, job: number, { userId, type }: Found): Promise<void> {
    await tell({ aggregate: 'user', id: userId }, async (unit) => {
      const [state] = await unit.query<State>(
        `select n.mail_job as job, n.mail_waits as waits, n.mailed_at is not null as "isMailed", w.closes_at as "closesAt",
           exists (select from notification o where o.user_id = n.user_id and o.type = n.type and o.mail_waits) as "othersWait"
         from notification n left join notification_mail_window w on w.user_id = n.user_id and w.type = n.type
         where n.id = $1`,
        [notificationId],
      )
      if (!state || state.job !== null || state.waits || state.isMailed) return
      const { closesAt, othersWait } = state
      if (closesAt && (closesAt > unit.now || othersWait)) {
        await unit.query('update notification set mail_waits = true where id = $1', [notificationId])
        unit.enqueue({
          type: 'email',
          data: { mail: 'notifications', userId, type },
          // Of its time, since the job of the time before may be running yet.
          dedupeKey: `notifications-${userId}-${type}-${closesAt.getTime()}`,
          delayMs: Math.max(0, closesAt.getTime() - unit.now.getTime()),
        })
        return
      }
      await unit.query('update notification set mail_job = $2 where id = $1', [notificationId, job])
      await unit.query(openWindow, [userId, type, closing(unit.now)])
    })
  }

  return {
    async one(notificationId, job) {
      const [found] = await db.query<Found>('select user_id as "userId", type from notification where id = $1', [
        notificationId,
      ])
      if (!found) return undefined
      await unlessGone(takeOne(notificationId, job, found))
      return await read(found, job)
    },

    async waiting({ userId, type }, job) {
      await unlessGone(
        tell({ aggregate: 'user', id: userId }, async (unit) => {
          const taken = await unit.query(
            `update notification set mail_job = $3, mail_waits = false
             where user_id = $1 and type = $2 and mail_waits returning id`,
            [userId, type, job],
          )
          if (taken.length > 0) await unit.query(openWindow, [userId, type, closing(unit.now)])
        }),
      )
      return await read({ userId, type }, job)
    },

    async putBack(job) {
      await db.query(
        'update notification set mail_job = null, mail_waits = true where mail_job = $1 and mailed_at is null',
        [job],
      )
    },

    async sent(job) {
      await db.query('update notification set mailed_at = $2 where mail_job = $1 and mailed_at is null', [
        job,
        clock.now(),
      ])
    },
  }
}
