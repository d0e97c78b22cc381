// Decides which remote videos public lists show: those of channels, accounts and servers that this instance follows, and those that a
// followed actor shared. Other remote videos are known because somebody commented on them, searched for them or sent them. They are found
// by their address and in the lists of their channel, so that an unknown server cannot put videos into public lists.

import type { Database, Sql } from '../../../platform/database/index.ts'
import { INSTANCE_ACTOR_NAME } from '../../actor/index.ts'
import type { ActorDeps, Unit } from '../../runtime/index.ts'
import { VIDEOS_CHANGED } from '../videos-changed.ts'

/** Videos per statement. */
const BATCH = 1000
/** Batches per run: a million videos within the hour. */
const BATCHES = 20
const EVERY_MS = 60_000

const INSTANCE = `(select id from actor where host_id is null and lower(preferred_username) = '${INSTANCE_ACTOR_NAME}')`
const followed = (target: string): string =>
  `exists (select 1 from follow f where f.follower_id = ${INSTANCE} and f.state = 'accepted' and f.target_id = ${target})`
/** SQL: true if this instance follows the server by its instance actor. A share may arrive before its video. */
const followedServer = (host: string): string =>
  `exists (select 1 from follow f join actor t on t.id = f.target_id
    where f.follower_id = ${INSTANCE} and f.state = 'accepted' and t.type = 'Application' and t.host_id = ${host})`
const IS_LISTED = `not v.remote or ${followed('c.actor_id')} or ${followed('a.actor_id')}
  or exists (select 1 from actor x where x.id = c.actor_id and ${followedServer('x.host_id')})
  or exists (select 1 from share s where s.video_id = v.id and ${followed('s.actor_id')})`

/**
 * The address of a remote account or channel if the instance follows neither it, its server, nor an actor related to it; otherwise
 * undefined.
 */
export async function findUnfollowedActor(
  db: Pick<Database, 'query'>,
  { accountId, channelId }: { accountId?: number; channelId?: number },
): Promise<string | undefined> {
  const [row] = await db.query<{ url: string }>(
    `select x.url from actor x
     where x.host_id is not null
       and x.id = coalesce((select actor_id from channel where id = $2), (select actor_id from account where id = $1))
       and not ${followedServer('x.host_id')}
       and not ${followed('x.id')}
       and not exists (
         select 1 from channel c join account a on a.id = c.account_id where (a.id = $1 or c.id = $2) and (
           ${followed('c.actor_id')} or ${followed('a.actor_id')}
           or exists (select 1 from video v where v.channel_id = c.id and v.listed and v.state <> 'removed')))`,
    [accountId ?? null, channelId ?? null],
  )
  return row?.url
}

/** Recomputes `listed` of these videos. */
export async function relist(query: Sql, videoIds: readonly number[]): Promise<void> {
  await query(
    `with looked as (
       select v.id, ${IS_LISTED} as listed from video v join channel c on c.id = v.channel_id
         join account a on a.id = c.account_id where v.id = any($1)
     ), changed as (
       select v.id, l.listed from video v join looked l on l.id = v.id where v.listed <> l.listed
       order by v.id for no key update of v
     ) update video v set listed = c.listed from changed c where v.id = c.id`,
    [videoIds],
  )
}

/** Recomputes the videos of an actor, and those that it shared, when a follow of it begins or ends. Recomputes all videos gradually. */
export function registerListing(deps: ActorDeps): void {
  const { db, tell, registry } = deps
  const ask = async (unit: Unit, targetId: number): Promise<void> => unit.enqueue({ type: 'video-listing', data: { actorId: targetId } })

  for (const event of ['FollowAccepted', 'FollowRejected'] as const) {
    registry.on(event, 'listing', async ({ followId }, unit) => {
      const [follow] = await unit.query<{ targetId: number }>(
        `select f.target_id as "targetId" from follow f where f.id = $1 and f.follower_id = ${INSTANCE}`,
        [followId],
      )
      if (follow) await ask(unit, follow.targetId)
    })
  }
  registry.on('FollowWithdrawn', 'listing', async ({ followerId, targetId }, unit) => {
    const [instance] = await unit.query(`select 1 from actor where id = $1 and id = ${INSTANCE}`, [followerId])
    if (instance) await ask(unit, targetId)
  })

  registry.job('video-listing', {
    queue: 'io',
    async run({ data, signal }) {
      let after = 0
      for (let ids = await videosOf(db, Number(data.actorId), after); ids.length > 0; ) {
        signal.throwIfAborted()
        await tell.create(async (unit) => {
          await relist(unit.query, ids)
          unit.publish(VIDEOS_CHANGED, {})
        })
        after = ids.at(-1) ?? after
        ids = await videosOf(db, Number(data.actorId), after)
      }
    },
  })

  let looked = 0
  registry.periodic('video-listing', {
    everyMs: () => EVERY_MS,
    async run() {
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const rows = await db.query<{ id: number }>('select id from video where id > $1 and remote order by id limit $2', [looked, BATCH])
        await relist(
          db.query,
          rows.map(({ id }) => id),
        )
        looked = rows.length === BATCH ? (rows.at(-1)?.id ?? 0) : 0
        if (looked === 0) return
      }
    },
  })
}

async function videosOf(db: Pick<Database, 'query'>, actorId: number, after: number): Promise<number[]> {
  const rows = await db.query<{ id: number }>(
    `select id from (
       select v.id from channel c join account a on a.id = c.account_id join video v on v.channel_id = c.id
       where $1 in (c.actor_id, a.actor_id) and v.remote and v.id > $2
       union select s.video_id from share s join video v on v.id = s.video_id
       where s.actor_id = $1 and v.remote and s.video_id > $2
       union select v.id from actor t join actor x on x.host_id = t.host_id join channel c on c.actor_id = x.id
         join video v on v.channel_id = c.id
       where t.id = $1 and t.type = 'Application' and v.remote and v.id > $2
     ) found order by id limit ${BATCH}`,
    [actorId, after],
  )
  return rows.map(({ id }) => id)
}
