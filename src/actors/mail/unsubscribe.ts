// Unsubscribes from a kind of mails by a link, without a login. The link works as long as the user has the address of the mail, and the
// installation its secret: mails may be years old.

import { timingSafeEqual } from 'node:crypto'
import type { Sql } from '../../platform/database/index.ts'
import type { Secrets } from '../../platform/secrets.ts'
import {
  changeNotificationSettings,
  findNotificationSettings,
  type NotificationSettings,
  notificationDefaults,
} from '../notification-setting/index.ts'
import { type ActorDeps, notFound } from '../runtime/index.ts'

/** User and setting. */
export interface UnsubscribeSubject {
  userId: number
  setting: keyof NotificationSettings
}

/** As received. */
export interface UnsubscribeLink {
  userId: number
  setting: string
  signature: string
}

export const UNSUBSCRIBE_PATH = '/mail-preferences/unsubscribe'

const SIGNATURE_CHARACTERS = 32
const BY_MAIL = 2

const signatureOf = (secrets: Secrets, { userId, setting }: UnsubscribeSubject, email: string): string =>
  secrets.hmac('unsubscribe', JSON.stringify([userId, setting, email])).slice(0, SIGNATURE_CHARACTERS)

/** `email`: the recipient of the mail. */
export function unsubscribeUrl({ secrets, urls }: Pick<ActorDeps, 'secrets' | 'urls'>, subject: UnsubscribeSubject, email: string): string {
  const { userId, setting } = subject
  return `${urls.origin}${UNSUBSCRIBE_PATH}/${userId}/${setting}/${signatureOf(secrets, subject, email)}`
}

export type Unsubscribe = ReturnType<typeof makeUnsubscribe>

export function makeUnsubscribe({ db, tell, secrets }: Pick<ActorDeps, 'db' | 'tell' | 'secrets'>) {
  async function check(query: Sql, { userId, setting, signature }: UnsubscribeLink): Promise<UnsubscribeSubject> {
    const [user] = await query<{ email: string }>("select email from users where id = $1 and state = 'active'", [userId])
    if (!user || !isSetting(setting)) throw useless()
    const subject = { userId, setting }
    const [given, expected] = [Buffer.from(signature), Buffer.from(signatureOf(secrets, subject, user.email))]
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw useless()
    return subject
  }

  return {
    /** True if mails of the kind are enabled. Throws `not_found` if the link is not (or no longer) valid. */
    async look(link: UnsubscribeLink): Promise<{ setting: keyof NotificationSettings; isOn: boolean }> {
      const { setting } = await check(db.query, link)
      const settings = await findNotificationSettings(db.query, link.userId)
      return { setting, isOn: (settings[setting] & BY_MAIL) > 0 }
    },

    /** Disables them. Throws `not_found` like `look`. */
    async end(link: UnsubscribeLink): Promise<{ setting: keyof NotificationSettings }> {
      return await tell({ aggregate: 'user', id: link.userId }, async (unit) => {
        const { setting } = await check(unit.query, link)
        await changeNotificationSettings(unit, link.userId, (settings) => ({ [setting]: settings[setting] & ~BY_MAIL }))
        return { setting }
      })
    },
  }
}

const isSetting = (name: string): name is keyof NotificationSettings => Object.hasOwn(notificationDefaults, name)

/** The same for any invalid link. */
const useless = () => notFound('This link is of no use any more.')
