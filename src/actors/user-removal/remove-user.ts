// Removal of a user: a job deletes everything, then the rows, and finally the actors' keys, once all recipients are notified. The actors
// remain as tombstones, so that no name is ever reused.

import { setTimeout as pause } from 'node:timers/promises'
import { removeAccount } from '../account/account.writes.ts'
import { dropUnusedKeys } from '../actor/actor.writes.ts'
import { removeActorImages } from '../actor-image/actor-image.writes.ts'
import { removeChannelsOf } from '../channel/channel.writes.ts'
import { disownComments } from '../comment/comment.writes.ts'
import { dropFollows } from '../follow/index.ts'
import { removeRegistrationOf } from '../registration/registration.writes.ts'
import { type ActorDeps, CHECK_OWNER_EVERY, DomainError, resumeJobs, type Unit } from '../runtime/index.ts'
import { removeUserRow } from '../user/user.writes.ts'
import { actorsOf, deleteContents, hasContents, type Owner, ownerOf, type Removers, rememberKnownServers } from './delete-contents.ts'

/** How long the job waits for removed content before it yields to other jobs. */
const [LOOKS, LOOK_EVERY_MS] = [40, 100]

export function makeUserRemoval(deps: ActorDeps & Removers): void {
  const { db, tell, registry } = deps

  const ask = (unit: Unit, userId: number): void =>
    unit.enqueue({ type: 'user-removal', data: { userId }, dedupeKey: `user-removal-${userId}` })

  registry.on('UserRemoved', 'removal', async ({ userId }, unit) => ask(unit, userId))

  registry.job('user-removal', {
    queue: 'io',
    async run({ data, signal }) {
      const userId = Number(data.userId)
      const owner = await ownerOf(db.query, userId)
      if (!owner) return
      await tell({ aggregate: 'actor', id: owner.accountActorId }, (unit) => rememberKnownServers(unit.query, owner))
      await deleteContents(db, deps, owner, signal)
      await allGone(owner, signal)
      await tell({ aggregate: 'user', id: userId }, (unit) => close(unit, owner))
    },
  })

  /** Waits a moment for the videos, whose jobs began with this one: other servers get the Delete of the account soon after theirs. */
  async function allGone(owner: Owner, signal: AbortSignal): Promise<void> {
    for (let looks = 0; looks < LOOKS && (await hasContents(db.query, owner)); looks += 1) {
      await pause(LOOK_EVERY_MS, undefined, { signal })
    }
  }

  resumeJobs(deps, 'user-removal', { waiting: "select id from users where state = 'deleted' order by id limit 100", ask })

  // After federation's own reaction, which reads the followers, in one transaction with it.
  registry.on('AccountRemoved', 'removal', async ({ actorId, channels }, unit) => {
    await dropFollows(unit, [actorId, ...channels.map((channel) => channel.actorId)])
  })

  registry.periodic('keys-of-removed-actors', {
    everyMs: () => CHECK_OWNER_EVERY,
    run: () => dropUnusedKeys(db.query),
  })
}

/** Deletes the rows if nothing refers to them: nothing can be added while they are locked. Throws `busy`, for which the job waits. */
async function close(unit: Unit, owner: Owner): Promise<void> {
  const { userId, accountId, accountActorId, accountUrl } = owner
  await unit.query('select id from account where id = $1 for update', [accountId])
  await unit.query('select id from channel where account_id = $1 order by id for update', [accountId])
  const now = await ownerOf(unit.query, userId)
  if (!now) return
  if (now.channels.length !== owner.channels.length || (await hasContents(unit.query, now))) {
    throw new DomainError('busy', 'Something of this user is still to go.')
  }
  await removeActorImages(unit.query, actorsOf(now))
  // Comments removed just now; all others have no author any more.
  await disownComments(unit.query, accountId)
  await removeChannelsOf(unit.query, accountId)
  await removeAccount(unit.query, accountId)
  await removeRegistrationOf(unit.query, userId)
  await removeUserRow(unit.query, userId)
  unit.emit({ aggregate: 'actor', id: accountActorId }, 'AccountRemoved', {
    actorId: accountActorId,
    url: accountUrl,
    channels: now.channels.map(({ actorId, url }) => ({ actorId, url })),
  })
}
