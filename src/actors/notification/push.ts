// Pushes notifications to the browsers that users chose, by the push services of these browsers (RFC 8030). No other party is involved.

import type { Columns, Database } from '../../platform/database/index.ts'
import { FetchError, type GuardedFetch } from '../../platform/fetch/index.ts'
import { sha256 } from '../../platform/ids.ts'
import { encryptPush, type PushTarget, vapidHeader, vapidKeys } from '../../platform/web-push.ts'
import { type ActorDeps, PermanentFailure } from '../runtime/index.ts'
import type { PushSubscription } from './notification.entity.ts'
import { findNotification, type NotificationRow } from './notification.queries.ts'

export interface PushWords {
  title: string
  text: string
  /** Of the page to open. */
  path: string
}

export type PushDeviceRow = Columns<typeof PushSubscription, 'createdAt' | 'lastSentAt'>

/** Per user. */
const MAX_DEVICES = 20
/** How long a push service keeps a message for a browser that is not running, in seconds. */
const TTL_S = 48 * 3600
/** UTF-16 units: a message with its encryption fits into 4096 bytes, whatever the language. */
const MAX_TEXT = 600
/** Of a browser that is gone, or has subscribed with another key than this server's (RFC 8292, 4.2). */
const ENDED: readonly number[] = [401, 403, 404, 410]
/** Nobody can be reached there, now or later. */
const UNREACHABLE: readonly string[] = ['refused-address', 'refused-url']

export type Pushes = ReturnType<typeof makePushes>

export function makePushes(
  deps: Pick<ActorDeps, 'db' | 'tell' | 'registry' | 'clock' | 'secrets' | 'urls'> & {
    http: Pick<GuardedFetch, 'fetch'>
    words: (row: NotificationRow, language: string | null) => PushWords
  },
) {
  const { db, tell, registry, clock, secrets, urls, http, words } = deps
  const keys = vapidKeys(Buffer.from(secrets.hmac('web-push', 'vapid'), 'hex'))

  registry.job('web-push', {
    queue: 'io',
    async run({ data, signal }) {
      const subscriptionId = Number(data.subscriptionId)
      const notificationId = Number(data.notificationId)
      const [device] = await db.query<Columns<typeof PushSubscription, 'userId' | 'sealed'> & { language: string | null }>(
        `select d.user_id, d.sealed, coalesce(u.language, d.language) as language
         from push_subscription d join users u on u.id = d.user_id where d.id = $1`,
        [subscriptionId],
      )
      const row = device && (await findNotification(db, { userId: device.user_id, notificationId }))
      if (!row || row.read) return
      const { title, text, path } = words(row, device.language)
      const target = opened(device.sealed)
      const message = JSON.stringify({ id: notificationId, title: title.slice(0, MAX_TEXT / 2), text: text.slice(0, MAX_TEXT), path })
      if (target && (await send(target, { message, topic: `${notificationId}`, signal }))) {
        await db.query('update push_subscription set last_sent_at = $2 where id = $1', [subscriptionId, clock.now()])
      } else {
        await db.query('delete from push_subscription where id = $1', [subscriptionId])
      }
    },
  })

  /** Undefined if it was sealed with another secret: the key was another one then, too. */
  function opened(sealed: string): PushTarget | undefined {
    try {
      return JSON.parse(secrets.open(sealed)) as PushTarget
    } catch {
      return undefined
    }
  }

  /** False if the browser is gone for good. Errors do not contain the address, which is a secret. */
  async function send(
    target: PushTarget,
    { message, topic, signal }: { message: string; topic: string; signal: AbortSignal },
  ): Promise<boolean> {
    const { endpoint } = target
    const { host } = new URL(endpoint)
    const headers = {
      authorization: await vapidHeader(keys, { endpoint, subject: urls.origin, now: clock.now() }),
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      ttl: `${TTL_S}`,
      urgency: 'normal',
      // Repeated jobs replace what waits at the service.
      topic,
    }
    try {
      const { status } = await http.fetch(endpoint, { method: 'POST', body: encryptPush(message, target), headers, signal })
      if (ENDED.includes(status)) return false
      if (status < 300) return true
      const problem = `The push service ${host} answered ${status}.`
      throw status === 429 || status >= 500 ? new Error(problem) : new PermanentFailure(problem)
    } catch (error) {
      if (!(error instanceof FetchError)) throw error
      if (UNREACHABLE.includes(error.reason)) return false
      throw new Error(`The push service ${host} could not be reached: ${error.reason}.`)
    }
  }

  return {
    /** For browsers, as `applicationServerKey`. */
    publicKey: keys.publicKey,

    /** Adds or renews a browser, whoever had it before. The oldest of too many is removed. `language`: a tag, for users who chose none. */
    add(userId: number, { endpoint, p256dh, auth }: PushTarget, language: string | null): Promise<void> {
      return tell({ aggregate: 'user', id: userId }, async (unit) => {
        await unit.query(
          `insert into push_subscription (user_id, endpoint_hash, sealed, language, created_at) values ($1, $2, $3, $4, $5)
           on conflict (endpoint_hash) do update set user_id = excluded.user_id, sealed = excluded.sealed, language = excluded.language,
             created_at = excluded.created_at, last_sent_at = null`,
          [userId, sha256(endpoint), secrets.seal(JSON.stringify({ endpoint, p256dh, auth })), language, unit.now],
        )
        await unit.query(
          `delete from push_subscription where id in (
             select id from push_subscription where user_id = $1 order by created_at desc, id desc offset ${MAX_DEVICES})`,
          [userId],
        )
      })
    },

    /** Ignores endpoints of other users. Without an endpoint, all are removed. */
    remove(userId: number, endpoint?: string): Promise<void> {
      return tell({ aggregate: 'user', id: userId }, async (unit) => {
        const hash = endpoint === undefined ? null : sha256(endpoint)
        await unit.query('delete from push_subscription where user_id = $1 and ($2::bytea is null or endpoint_hash = $2)', [userId, hash])
      })
    },
  }
}

/** The browsers of a user, the newest first. One statement. */
export const listPushDevices = (db: Pick<Database, 'query'>, userId: number): Promise<PushDeviceRow[]> =>
  db.query<PushDeviceRow>('select created_at, last_sent_at from push_subscription where user_id = $1 order by created_at desc, id desc', [
    userId,
  ])
