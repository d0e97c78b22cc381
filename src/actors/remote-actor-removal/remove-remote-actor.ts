// Removal of a remote actor: a job deletes its content, then its rows. An actor whose account is blocked stays as a tombstone, so that it
// is blocked when it comes back.

import { removeLeftActor } from '../actor/actor.writes.ts'
import { queueRemoval, REMOTE_ACTOR_REMOVAL, type RemoteActors, remoteActorLifecycle } from '../actor/index.ts'
import { removeActorImages } from '../actor-image/actor-image.writes.ts'
import { removeChannel } from '../channel/channel.writes.ts'
import { type ActorDeps, advanceRow, DomainError, ignoreNotFound, resumeJobs, type Unit } from '../runtime/index.ts'
import { type DepartingActor, deleteContents, departingActorOf, hasContents, type Removers } from './delete-contents.ts'

const BLOCKED = 'exists (select 1 from account a join account_block b on b.target_id = a.id where a.actor_id = x.id)'

export function makeRemoteActorRemoval(deps: ActorDeps & { remoteActors: Pick<RemoteActors, 'remove'>; removers: Removers }): void {
  const { db, tell, registry, remoteActors, removers } = deps

  registry.job(REMOTE_ACTOR_REMOVAL, {
    queue: 'io',
    run: ({ data, signal }) => removeActor(Number(data.actorId), signal),
  })

  resumeJobs(deps, REMOTE_ACTOR_REMOVAL, {
    // A tombstone is deleted when nobody blocks it any more.
    waiting: `select x.id from actor x where x.remote_state <> 'known' and not (x.remote_state = 'left' and ${BLOCKED})
      order by x.id limit 100`,
    ask: queueRemoval,
  })

  async function removeActor(actorId: number, signal: AbortSignal): Promise<void> {
    const to = { aggregate: 'actor', id: actorId } as const
    const leaver = await departingActorOf(db.query, actorId)
    if (!leaver) return await ignoreNotFound(tell(to, (unit) => bury(unit, actorId)))
    // A group is removed with the account that owns it.
    const removeChannel = async (id: number) => {
      await remoteActors.remove(id)
      await removeActor(id, signal)
    }
    await deleteContents({ db, tell, removers }, leaver, removeChannel, signal)
    await tell(to, async (unit) => {
      await empty(unit, leaver)
      // Transactions that waited for these locks find no actor any more, so they add nothing.
      await bury(unit, actorId)
    })
  }
}

/** Nothing refers to the actor any more, and nothing can be added while it is locked. Throws `busy`, for which the job waits. */
async function empty(unit: Unit, { actorId, accountId, channelId }: DepartingActor): Promise<void> {
  await unit.query('select id from actor where id = $1 for update', [actorId])
  await unit.query('select id from account where id = $1 for update', [accountId])
  await unit.query('select id from channel where id = $1 for update', [channelId])
  const leaver = await departingActorOf(unit.query, actorId)
  if (!leaver) return
  if (leaver.accountId !== accountId || leaver.channelId !== channelId || (await hasContents(unit.query, leaver))) {
    throw new DomainError('busy', 'Something of this actor is still to go.')
  }
  await removeActorImages(unit.query, [actorId])
  await removeChannel(unit.query, channelId)
  await advanceRow(unit, remoteActorLifecycle, { id: actorId, state: 'leaving' }, { type: 'EMPTIED' }, {})
}

/** Deletes the rows, unless somebody blocks the account; waits for a concurrent block. */
async function bury(unit: Unit, actorId: number): Promise<void> {
  await unit.query('select id from actor where id = $1 for update', [actorId])
  await unit.query('select id from account where actor_id = $1 for update', [actorId])
  await removeLeftActor(unit.query, actorId, BLOCKED)
}
