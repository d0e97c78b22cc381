// Local channels: creation, change and removal. The number of channels of an account is checked under the lock of the account's actor;
// changes of a channel use the lock of its own actor.

import { type Aliased, isUniqueViolation, type Sql } from '../../platform/database/index.ts'
import { type GenerateKeys, generateActorKeys } from '../../platform/keys.ts'
import { channelMachine, initialChannel } from '../../state-machines/channel.ts'
import { markActorsRemoved } from '../actor/actor.writes.ts'
import { insertLocalActor } from '../actor/index.ts'
import { type ActorDeps, advanceRow, DomainError, defineLifecycle, notFound, type StoreWith } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { Channel } from './channel.entity.ts'
import { assertMayManageChannel } from './channel.policy.ts'

export interface NewChannel {
  name: string
  displayName: string
  description: string | null
  support: string | null
}

export interface ChannelOwner {
  accountId: number
  /** Actor of the account. */
  actorId: number
}

/** Omitted fields stay. */
export interface ChannelChanges {
  displayName?: string | undefined
  description?: string | null | undefined
  support?: string | null | undefined
  /** True to copy the new support text to the channel's videos. */
  supportOfVideos?: boolean | undefined
}

type By = NonNullable<Viewer>

export type Channels = ReturnType<typeof makeChannels>

export function makeChannels(deps: ActorDeps & { generateKeys?: GenerateKeys | undefined }) {
  const { db, tell, config, generateKeys = generateActorKeys } = deps

  async function create(owner: ChannelOwner, channel: NewChannel, also?: StoreWith): Promise<{ id: number }> {
    const { name, displayName, description, support } = channel
    await refuseTaken(db.query, name)
    await refuseTooMany(db.query, owner.accountId)
    const keys = await generateKeys()
    return await tell({ aggregate: 'actor', id: owner.actorId }, async (unit) => {
      await refuseTooMany(unit.query, owner.accountId)
      const actorId = await insertLocalActor({ ...deps, unit, type: 'Group', name, keys })
      const made = unit.em.create(Channel, {
        actorId,
        accountId: owner.accountId,
        name: displayName,
        description,
        support,
        createdAt: unit.now,
        updatedAt: unit.now,
      })
      await unit.em.flush()
      unit.created({ aggregate: 'actor', id: actorId })
      await also?.(unit, made.id)
      return { id: made.id }
    })
  }

  async function refuseTooMany(query: Sql, accountId: number): Promise<void> {
    const { max_per_user } = config().video_channels
    const [row] = await query<{ channels: number }>(
      "select count(*)::int as channels from channel where account_id = $1 and state = 'active'",
      [accountId],
    )
    if ((row?.channels ?? 0) < max_per_user) return
    throw new DomainError('invalid', `No user has more than ${max_per_user} channels on this server.`)
  }

  return {
    /**
     * Throws `conflict` for a name that a local account or channel has or had, and `invalid` over the limit per user. `also` is stored in
     * the same transaction.
     */
    async create(owner: ChannelOwner, channel: NewChannel, also?: StoreWith): Promise<{ id: number }> {
      try {
        return await create(owner, channel, also)
      } catch (error) {
        // A concurrent request took the name.
        throw isUniqueViolation(error) ? taken() : error
      }
    },

    /** Throws `not_found` and `forbidden`. */
    async update(channelId: number, by: By, { displayName, description, support, supportOfVideos = false }: ChannelChanges): Promise<void> {
      const { actorId } = await load(db.query, channelId)
      await tell({ aggregate: 'actor', id: actorId }, async (unit) => {
        const channel = await load(unit.query, channelId)
        assertMayManageChannel(channel, by)
        const after = {
          name: displayName ?? channel.name,
          description: description === undefined ? channel.description : description,
          support: support === undefined ? channel.support : support,
        }
        await unit.query('update channel set name = $2, description = $3, support = $4, updated_at = $5 where id = $1', [
          channelId,
          after.name,
          after.description,
          after.support,
          unit.now,
        ])
        unit.emit({ aggregate: 'actor', id: actorId }, 'ActorUpdated', { actorId })
        if (!supportOfVideos || after.support === channel.support) return
        unit.enqueue({ type: 'channel-support', data: { channelId } })
      })
    },

    /**
     * The channel disappears at once; a job deletes its content. Throws `not_found`, `forbidden`, and `conflict` for the last channel of a
     * user.
     */
    async remove(channelId: number, by: By): Promise<void> {
      const { ownerActorId } = await load(db.query, channelId)
      await tell({ aggregate: 'actor', id: ownerActorId }, async (unit) => {
        const channel = await load(unit.query, channelId)
        assertMayManageChannel(channel, by)
        const others = await unit.query("select id from channel where account_id = $1 and state = 'active' and id <> $2 limit 1", [
          channel.accountId,
          channelId,
        ])
        if (others.length === 0) throw new DomainError('conflict', 'Cannot remove the last channel of this user')
        const { actorId, url } = channel
        await unit.changing({ aggregate: 'actor', id: actorId })
        // First: the event belongs to this actor, and its events are numbered under this lock.
        await markActorsRemoved(unit, '$1', actorId)
        await advanceRow(unit, channelLifecycle, channel, { type: 'REMOVED' }, {})
        unit.emit({ aggregate: 'actor', id: actorId }, 'ChannelRemoved', { channelId, url })
      })
    },
  }
}

interface ChannelRow extends Aliased<Channel, 'id' | 'accountId' | 'name' | 'description' | 'support' | 'state'> {
  actorId: number
  url: string
  ownerActorId: number
  remote: boolean
}

/** Throws `not_found`, also for a removed one. */
async function load(query: Sql, channelId: number): Promise<ChannelRow> {
  const [row] = await query<ChannelRow>(
    `select c.id, x.id as "actorId", x.url, c.account_id as "accountId", a.actor_id as "ownerActorId",
       x.host_id is not null as remote, c.state, c.name, c.description, c.support
     from channel c join actor x on x.id = c.actor_id join account a on a.id = c.account_id
     where c.id = $1 and x.deleted_at is null`,
    [channelId],
  )
  if (!row) throw notFound('Video channel not found')
  return row
}

const channelLifecycle = defineLifecycle({
  table: 'channel',
  machine: channelMachine,
  initial: initialChannel,
  refusal: () => notFound('Video channel not found'),
})

async function refuseTaken(query: Sql, name: string): Promise<void> {
  const [actor] = await query('select 1 from actor where host_id is null and lower(preferred_username) = lower($1)', [name])
  if (actor) throw taken()
}

const taken = (): DomainError =>
  new DomainError('conflict', 'Another actor (account/channel) with this name on this instance already exists or has already existed.')
