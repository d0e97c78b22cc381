// Groups notifications into mails. The first of a kind is mailed at once; those that follow within a period wait, and are mailed together
// at its end. A waiting notification is marked, and the job of its mail is stored with it, due at the end of the period.

import { isMailEnabled } from '../../config/index.ts'
import type { Aliased, Database } from '../../platform/database/index.ts'
import { MAX_LISTED, type MailBatches, type Mailed } from '../mail/index.ts'
import { type ActorDeps, ifThere, type Unit } from '../runtime/index.ts'
import { readMailed } from './mailed.ts'
import type { Notification } from './notification.entity.ts'

const TIDY_EVERY_MS = 3_600_000

type Kind = Aliased<typeof Notification, 'userId' | 'type'>

interface State {
  /** The job whose mail carries it. */
  job: number | null
  waits: boolean
  /** End of the period after the previous mail; null if there was none recently. */
  closesAt: Date | null
  othersWait: boolean
}

export function makeMailBatches(deps: ActorDeps): MailBatches {
  const { db, tell, registry, clock, config, urls } = deps

  registry.periodic('notification-mail-windows', {
    everyMs: () => TIDY_EVERY_MS,
    run: async () => {
      await db.query('delete from notification_mail_window where closes_at <= $1', [clock.now()])
      await remind()
    },
  })

  /**
   * If notifications wait beyond their period, their job has failed for good, or waits for the mail server: an additional one is harmless.
   */
  async function remind(): Promise<void> {
    if (!isMailEnabled(config())) return
    const late = await db.query<Kind>(
      `select distinct n.user_id as "userId", n.type from notification n left join notification_mail_window w
         on w.user_id = n.user_id and w.type = n.type where n.mail_waits and w.user_id is null`,
    )
    if (late.length === 0) return
    await tell.create(async (unit) => {
      for (const { userId, type } of late) {
        const dedupeKey = `notifications-${userId}-${type}`
        unit.enqueue({ type: 'email', data: { mail: 'notifications', userId, type }, dedupeKey })
      }
    })
  }

  const read = (from: Pick<Database, 'query'>, of: Kind, job: number): Promise<Mailed | undefined> =>
    readMailed(from, {
      ...of,
      job,
      host: urls.host,
      atMost: MAX_LISTED,
      verifiedOnly: config().signup.requires_email_verification,
    })

  /** From now on, notifications of the kind wait. */
  const openWindow = (unit: Unit, { userId, type }: Kind): Promise<unknown> =>
    unit.query(
      `insert into notification_mail_window (user_id, type, closes_at) values ($1, $2, $3)
       on conflict (user_id, type) do update set closes_at = excluded.closes_at`,
      [userId, type, new Date(unit.now.getTime() + config().vireo.notifications.mail_window)],
    )

  async function takeOne(unit: Unit, notificationId: number, of: Kind, job: number): Promise<Mailed | undefined> {
    const [state] = await unit.query<State>(
      `select n.mail_job as job, n.mail_waits as waits, w.closes_at as "closesAt",
         exists (select from notification o where o.user_id = n.user_id and o.type = n.type and o.mail_waits) as "othersWait"
       from notification n left join notification_mail_window w on w.user_id = n.user_id and w.type = n.type
       where n.id = $1`,
      [notificationId],
    )
    if (!state || state.waits) return undefined
    if (state.job !== null) return state.job === job ? await read(unit, of, job) : undefined
    const { closesAt, othersWait } = state
    if (closesAt && (closesAt > unit.now || othersWait)) {
      await unit.query('update notification set mail_waits = true where id = $1', [notificationId])
      unit.enqueue({
        type: 'email',
        data: { mail: 'notifications', userId: of.userId, type: of.type },
        // Keyed by the period, since the job of the previous one may still be running.
        dedupeKey: `notifications-${of.userId}-${of.type}-${closesAt.getTime()}`,
        delayMs: Math.max(0, closesAt.getTime() - unit.now.getTime()),
      })
      return undefined
    }
    await unit.query('update notification set mail_job = $2 where id = $1', [notificationId, job])
    const mailed = await read(unit, of, job)
    if (mailed) await openWindow(unit, of)
    return mailed
  }

  /**
   * A job keeps the notifications that it took, without later ones, also for retries: later ones belong to the job of the next period,
   * which therefore begins here, even if there is nothing to send.
   */
  async function takeWaiting(unit: Unit, of: Kind, job: number): Promise<Mailed | undefined> {
    const taken = await unit.query(
      `update notification set mail_job = $3, mail_waits = false
       where user_id = $1 and type = $2 and mail_waits and not exists (select from notification o where o.mail_job = $3)
       returning id`,
      [of.userId, of.type, job],
    )
    if (taken.length > 0) await openWindow(unit, of)
    return await read(unit, of, job)
  }

  /** One mail per user at a time. Undefined if the user is removed. */
  const toUser = (userId: number, take: (unit: Unit) => Promise<Mailed | undefined>): Promise<Mailed | undefined> =>
    ifThere(tell({ aggregate: 'user', id: userId }, take))

  return {
    async one(notificationId, job) {
      const [of] = await db.query<Kind>('select user_id as "userId", type from notification where id = $1', [notificationId])
      return of && (await toUser(of.userId, (unit) => takeOne(unit, notificationId, of, job)))
    },

    waiting: (of, job) => toUser(of.userId, (unit) => takeWaiting(unit, of, job)),

    async putBack(job) {
      await db.query('update notification set mail_job = null, mail_waits = true where mail_job = $1 and mailed_at is null', [job])
    },

    async sent(job) {
      await db.query('update notification set mailed_at = $2 where mail_job = $1 and mailed_at is null', [job, clock.now()])
    },
  }
}
