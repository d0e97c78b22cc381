// Stores incoming activities before the response: verified ones at once, and a limited number that wait for the key of their actor.

import { batched } from '../../platform/batched.ts'
import { dueIn, incomingActivityMachine, initialIncomingActivity } from '../../state-machines/incoming-activity.ts'
import { type ActorDeps, defineLifecycle, inBulk } from '../runtime/index.ts'
import { aboutOf, ENDED_HASH, endedOf, hashOf, SUBJECT_HASH, type Subject } from './final-activities.ts'

export interface ArrivedActivity {
  activityId: string
  type: string
  actorUrl: string
  /** Host of the actor's id. */
  host: string
  /** The document as received. */
  body: string
  /** What the later check of the signature needs; null if it was checked with a known key. */
  proof: Record<string, unknown> | null
  /** Time given by the actor, at most the time of arrival; null if none was given. */
  saidAt: Date | null
  subject: Subject
  /** The activity was forwarded, possibly repeatedly: it counts only if none with this id arrived before. */
  once: boolean
}

/** `refused`: too many activities of the host wait for their keys. */
export type Arrival = 'stored' | 'duplicate' | 'refused'

export const INBOX_LANE = 'inbox'
/** Activities of unknown actors, whose key has to be fetched first; they must not delay those of known ones. */
export const STRANGERS_LANE = 'inbox-unverified'
export const incomingActivityLifecycle = defineLifecycle({
  table: 'incoming_activity',
  machine: incomingActivityMachine,
  initial: initialIncomingActivity(false),
  dueIn,
  touches: false,
})
const VERIFIED = inBulk(incomingActivityLifecycle, { type: 'VERIFIED' })
const STORED_AT_ONCE = 100

/** Stores an activity and wakes its lane, in one transaction. */
export function makeArrivals({ tell, config }: Pick<ActorDeps, 'tell' | 'config'>) {
  const settings = () => config().vireo.federation.inbox

  // Concurrent arrivals are committed together, before their responses.
  const storeVerified = batched<ArrivedActivity, Arrival>(
    async (arrived) =>
      await tell.create(async (unit) => {
        const fresh = new Map(arrived.map((activity) => [identityOf(activity), activity]))
        const all = [...fresh.values()]
        const { state, context } = initialIncomingActivity(true)
        const rows = await unit.query<{ identity: string }>(
          // A verified activity replaces an unverified one of the same bytes.
          `insert into incoming_activity (activity_id, type, actor_url, host, body, body_hash, said_at, subject_hash,
             ended_hash, state, context, received_at)
           select a.activity_id, a.type, a.actor_url, a.host, a.body, md5(a.body)::uuid, a.said_at, ${SUBJECT_HASH},
             ${ENDED_HASH}, $9, $10, $11
           from unnest((select $1::text[]), (select $2::text[]), (select $3::text[]), (select $4::text[]), (select $5::text[]), (select $6::timestamptz[]), (select $7::text[]), (select $8::text[]))
             with ordinality as a (activity_id, type, actor_url, host, body, said_at, subject, ended, place)
           where not (a.activity_id = any($12)) or not exists (
             select 1 from incoming_activity k where k.activity_hash = md5(a.activity_id)::uuid
               and k.actor_hash = md5(a.actor_url)::uuid and k.state <> 'unverified')
           order by a.place
           on conflict (activity_hash, actor_hash, body_hash) do update set proof = null,
             ${VERIFIED.set}, due_at = null
             where ${VERIFIED.where}
           returning activity_hash || ' ' || actor_hash || ' ' || body_hash as identity`,
          [
            all.map(({ activityId }) => activityId),
            all.map(({ type }) => type),
            all.map(({ actorUrl }) => actorUrl),
            all.map(({ host }) => host),
            all.map(({ body }) => body),
            all.map(({ saidAt }) => saidAt),
            all.map(aboutOf),
            all.map(endedOf),
            state,
            JSON.stringify(context),
            unit.now,
            all.filter(({ once }) => once).map(({ activityId }) => activityId),
          ],
        )
        const stored = new Set(rows.map(({ identity }) => identity))
        return arrived.map((activity) => {
          const identity = identityOf(activity)
          if (fresh.get(identity) !== activity || !stored.has(identity)) return 'duplicate'
          unit.wake(INBOX_LANE, hashOf(activity.actorUrl))
          return 'stored'
        })
      }),
    { max: STORED_AT_ONCE },
  )

  async function storeUnverified(activity: ArrivedActivity): Promise<Arrival> {
    const { state, context } = initialIncomingActivity(false)
    return await tell.create(async (unit) => {
      const [row] = await unit.query<{ id: number }>(
        `insert into incoming_activity (activity_id, type, actor_url, host, body, body_hash, proof, state, context, received_at,
           said_at, subject_hash, ended_hash)
         select $1, $2, a.actor_url, $4, $5, md5($5)::uuid, $6, $7, $8, $9, $12, ${SUBJECT_HASH}, ${ENDED_HASH}
         from (values ($3::text, $13::text, $14::text)) as a (actor_url, subject, ended)
         where (select count(*) from incoming_activity where host = $4 and state = 'unverified') < $10
           and (select count(*) from (
             select 1 from incoming_activity where state = 'unverified' limit $11) as waiting) < $11
         on conflict (activity_hash, actor_hash, body_hash) do nothing
         returning id`,
        [
          activity.activityId,
          activity.type,
          activity.actorUrl,
          activity.host,
          activity.body,
          JSON.stringify(activity.proof),
          state,
          JSON.stringify(context),
          unit.now,
          settings().unverified_per_host,
          settings().unverified_in_all,
          activity.saidAt,
          aboutOf(activity),
          endedOf(activity),
        ],
      )
      if (row) {
        unit.wake(STRANGERS_LANE, hashOf(activity.actorUrl))
        return 'stored'
      }
      const [known] = await unit.query(
        `select 1 from incoming_activity
         where activity_hash = md5($1)::uuid and actor_hash = md5($2)::uuid and body_hash = md5($3)::uuid`,
        [activity.activityId, activity.actorUrl, activity.body],
      )
      return known ? 'duplicate' : 'refused'
    })
  }

  return (activity: ArrivedActivity): Promise<Arrival> => (activity.proof === null ? storeVerified(activity) : storeUnverified(activity))
}

/** The identity of an activity, as in the unique index. */
const identityOf = ({ activityId, actorUrl, body }: ArrivedActivity): string => [activityId, actorUrl, body].map(hashOf).join(' ')
