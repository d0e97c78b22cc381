// Marks notifications as read, and deletes old ones.

import type { ActorDeps } from '../runtime/index.ts'

const TIDY_EVERY_MS = 3_600_000
const REMOVED_AT_ONCE = 1000

export type Notifications = ReturnType<typeof makeNotifications>

export function makeNotifications({ db, tell, registry, clock, config }: Pick<ActorDeps, 'db' | 'tell' | 'registry' | 'clock' | 'config'>) {
  registry.periodic('old-notifications', {
    everyMs: () => TIDY_EVERY_MS,
    async run() {
      const before = new Date(clock.now().getTime() - config().vireo.notifications.keep)
      while ((await removeSome(before)) === REMOVED_AT_ONCE);
    },
  })

  const removeSome = async (before: Date): Promise<number> => {
    const removed = await db.query(
      `delete from notification where id = any(array(
         select id from notification where created_at < $1 order by created_at limit ${REMOVED_AT_ONCE}
         for update skip locked)) returning id`,
      [before],
    )
    return removed.length
  }

  return {
    /** Ignores notifications of other users. */
    async markRead(userId: number, notificationIds: readonly number[]): Promise<void> {
      await tell.create((unit) =>
        unit.query(
          `update notification set read = true, updated_at = $3
           where id = any(array(select id from notification
             where user_id = $1 and id = any($2::bigint[]) and not read order by id for no key update))`,
          [userId, notificationIds, unit.now],
        ),
      )
    },

    async markAllRead(userId: number): Promise<void> {
      await tell.create((unit) =>
        unit.query(
          `update notification set read = true, updated_at = $2
           where id = any(array(select id from notification
             where user_id = $1 and on_web and not read order by id for no key update))`,
          [userId, unit.now],
        ),
      )
    },
  }
}
