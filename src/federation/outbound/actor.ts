// Changed local actors: an Update to all followers of them or their videos.

import { findActorById } from '../../actors/actor/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import type { FederationDeps } from '../deps.ts'
import { actorDocument, publicAudience } from '../documents/index.ts'
import { buildUpdate } from '../wire/index.ts'
import { audienceOf } from './audience.ts'
import type { Sender } from './sender.ts'

export function sendActors(deps: FederationDeps, { send }: Sender): void {
  const { registry, urls, config } = deps

  registry.on('ActorUpdated', 'federation', async ({ actorId }, unit) => {
    if (await changesAgain(unit, actorId)) return
    const actor = await findActorById(unit.query, actorId)
    if (!actor?.isLocal || actor.isGone) return
    const document = await actorDocument(unit.query, urls, config(), { id: actorId })
    if (!document) return
    const activity = buildUpdate({
      id: urls.updateOf(actor.url, unit.now),
      actor: actor.url,
      object: document,
      ...publicAudience(urls, actor.url),
    })
    const known = [actorId, ...(await sharersOf(unit, actorId))]
    await send(unit, { activity, senderId: actorId, recipients: await audienceOf(unit.query, known, null) })
  })
}

/** One Update covers several changes: the last one. */
async function changesAgain(unit: Unit, actorId: number): Promise<boolean> {
  const waiting = await unit.query(
    `select id from outbox where aggregate = 'actor' and aggregate_id = $1 and event = 'ActorUpdated' and parked_at is null
     limit 2`,
    [actorId],
  )
  return waiting.length > 1
}

/** Channels and the instance, if they announced videos of this account or channel to their followers. */
async function sharersOf(unit: Unit, actorId: number): Promise<number[]> {
  const sharers = await unit.query<{ id: number }>(
    `select distinct s.actor_id as id from channel c join account a on a.id = c.account_id
       join video v on v.channel_id = c.id join share s on s.video_id = v.id
       join actor x on x.id = s.actor_id and x.host_id is null
     where $1 in (a.actor_id, c.actor_id)`,
    [actorId],
  )
  return sharers.map(({ id }) => id)
}
