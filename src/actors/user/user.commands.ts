// Users: made together with their account and their first channel.

import { isUniqueViolation } from '../../platform/database/errors.ts'
import { generateActorKeys } from '../../platform/keys.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { Account } from '../account/account.entity.ts'
import { insertLocalActor } from '../actor/index.ts'
import { Channel } from '../channel/channel.entity.ts'
import { type ActorDeps, DomainError, type Unit } from '../runtime/index.ts'
import { User, type UserRole, userRoles } from './user.entity.ts'

export interface NewUser {
  username: string
  /** Or its hash, when the password was given before. */
  password: string | { hash: string }
  email: string
  role: UserRole
  /** Null when nobody asked for it. */
  emailVerified?: boolean | null
  /** Of the account; the username when left out. */
  displayName?: string | null
  /** Bytes, -1 for no limit; the configuration's values when left out. */
  videoQuota?: number
  videoQuotaDaily?: number
  /** The name of the first channel; `<username>_channel`, or with a number behind it, when left out. */
  channelName?: string
  channelDisplayName?: string
}

export interface CreatedUser {
  id: number
  accountId: number
  channelId: number
}

/** Runs the insertion in a transaction, with what belongs to it. */
export type TransactUser = (insert: (unit: Unit) => Promise<CreatedUser>) => Promise<CreatedUser>

export interface Users {
  /**
   * Throws DomainError `conflict` when the name, the address or the channel's name is taken. `transact` is for whoever
   * makes a user as part of something larger; keys and hashes are ready before it is called.
   */
  create(user: NewUser, transact?: TransactUser): Promise<CreatedUser>
  /** The administrator `root`, on the first start only. Answers whether it was made now. */
  ensureRoot(options: { password: string }): Promise<boolean>
}

export function makeUsers(deps: ActorDeps & { passwords: Passwords }): Users {
  const { db, tell, config, passwords } = deps

  async function create(user: NewUser, transact: TransactUser = tell.create): Promise<CreatedUser> {
    const [passwordHash, accountKeys, channelKeys] = await Promise.all([
      typeof user.password === 'string' ? passwords.hash(user.password) : user.password.hash,
      generateActorKeys(),
      generateActorKeys(),
    ])
    const channelName = user.channelName ?? (await freeChannelName(db, user.username))
    const inserted = transact(async (unit) => {
      await refuseTaken(unit.query, user, channelName)
      const stamps = { createdAt: unit.now, updatedAt: unit.now }
      const row = unit.em.create(User, {
        username: user.username,
        passwordHash,
        email: user.email,
        emailVerified: user.emailVerified ?? null,
        role: user.role,
        videoQuota: user.videoQuota ?? config().user.video_quota,
        videoQuotaDaily: user.videoQuotaDaily ?? config().user.video_quota_daily,
        nsfwPolicy: config().instance.default_nsfw_policy,
        ...stamps,
      })
      await unit.em.flush()
      const accountActor = await insertLocalActor({
        ...deps,
        unit,
        type: 'Person',
        name: user.username,
        keys: accountKeys,
      })
      const account = unit.em.create(Account, {
        actorId: accountActor,
        userId: row.id,
        name: user.displayName ?? user.username,
        ...stamps,
      })
      const channelActor = await insertLocalActor({
        ...deps,
        unit,
        type: 'Group',
        name: channelName,
        keys: channelKeys,
      })
      await unit.em.flush()
      const channel = unit.em.create(Channel, {
        actorId: channelActor,
        accountId: account.id,
        name: user.channelDisplayName ?? config().user.default_channel_name.replace('$1', () => user.username),
        ...stamps,
      })
      await unit.em.flush()
      return { id: row.id, accountId: account.id, channelId: channel.id }
    })
    return await inserted.catch((error: unknown) => {
      // Another request with these names was faster by a moment.
      throw isUniqueViolation(error) ? taken('user', user.username, channelName) : error
    })
  }

  return {
    create,
    async ensureRoot({ password }) {
      const [root] = await db.query("select id from users where username = 'root'")
      if (root) return false
      try {
        await create({
          username: 'root',
          password,
          email: config().admin.email,
          role: userRoles.administrator,
          emailVerified: true,
          videoQuota: -1,
          videoQuotaDaily: -1,
        })
        return true
      } catch (error) {
        // Another process that starts on the same empty database was faster.
        if (error instanceof DomainError && error.kind === 'conflict') return false
        throw error
      }
    },
  }
}

async function refuseTaken(query: ActorDeps['db']['query'], user: NewUser, channelName: string): Promise<void> {
  const [found] = await query<{ what: 'user' | 'name' | 'channel' }>(
    `select 'user' as what from users where lower(username) = lower($1) or lower(email) = lower($2)
     union all select 'name' from actor where host_id is null and lower(preferred_username) = lower($1)
     union all select 'channel' from actor where host_id is null and lower(preferred_username) = lower($3)`,
    [user.username, user.email, channelName],
  )
  if (found) throw taken(found.what, user.username, channelName)
}

function taken(what: 'user' | 'name' | 'channel', username: string, channelName: string): DomainError {
  if (what === 'user') return new DomainError('conflict', 'User with this username or email already exists.')
  if (what === 'channel') return new DomainError('conflict', `Channel with name ${channelName} already exists.`)
  return new DomainError('conflict', `The name ${username} was used on this server before, or is reserved.`)
}

/** `<username>_channel`, with a number when somebody's channel has this name. */
async function freeChannelName(db: ActorDeps['db'], username: string): Promise<string> {
  const name = `${username}_channel`
  const rows = await db.query<{ name: string }>(
    'select lower(preferred_username) as name from actor where host_id is null and starts_with(lower(preferred_username), lower($1))',
    [name],
  )
  const used = new Set(rows.map((row) => row.name))
  let free = name
  for (let number = 1; used.has(free.toLowerCase()); number += 1) free = `${name}-${number}`
  return free
}
