// Users: created together with their account and their first channel.

import { isMailEnabled } from '../../config/index.ts'
import { isUniqueViolation } from '../../platform/database/errors.ts'
import type { Sql } from '../../platform/database/index.ts'
import { newUuid, randomToken } from '../../platform/ids.ts'
import { type GenerateKeys, generateActorKeys } from '../../platform/keys.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { createAccount } from '../account/account.writes.ts'
import { freeActorName, insertLocalActor } from '../actor/index.ts'
import { createChannel } from '../channel/channel.writes.ts'
import { queueMail } from '../mail/index.ts'
import { createWatchLater } from '../playlist/playlist.writes.ts'
import { type ActorDeps, DomainError, type Unit } from '../runtime/index.ts'
import { User, type UserRole, userRoles } from './user.entity.ts'
import { assertMayCreate, type Manager, ROOT } from './user.policy.ts'

export interface NewUser {
  username: string
  /** Or its hash, if the password was given before. Null: the user gets a mail with a link to choose one. */
  password: string | { hash: string } | null
  email: string
  role: UserRole
  adminFlags?: number
  /** Null if no verification is required. */
  emailVerified?: boolean | null
  /** Of the account; by default the username. */
  displayName?: string | null
  /** Bytes, -1 for no limit; by default the configured values. */
  videoQuota?: number
  videoQuotaDaily?: number
  /** The name of the first channel; by default `<username>_channel`, with a number if necessary. */
  channelName?: string
  channelDisplayName?: string
  /** The kind of login that made the user, as clients know it. */
  pluginAuth?: string
}

export interface CreatedUser {
  id: number
  accountId: number
  channelId: number
}

/** Runs the insertion in a transaction, with related writes. */
export type TransactUser = (insert: (unit: Unit) => Promise<CreatedUser>) => Promise<CreatedUser>

export type Users = ReturnType<typeof makeUsers>

export function makeUsers(deps: ActorDeps & { passwords: Passwords; generateKeys?: GenerateKeys | undefined }) {
  const { db, tell, config, passwords, generateKeys = generateActorKeys } = deps

  /**
   * Throws `conflict` if the name, the address or the channel's name is taken, also by a removed user; `invalid` for a user without a
   * password if no mail can be sent. With `by`, another user creates it: throws `forbidden`. `transact` is for callers that create a user
   * as part of a larger transaction; keys and hashes are ready before it is called.
   */
  async function create(
    user: NewUser,
    { by, transact = tell.create }: { by?: Manager; transact?: TransactUser } = {},
  ): Promise<CreatedUser> {
    if (by) assertMayCreate(by, user.role)
    refuseWithoutPassword(user)
    const channelName = user.channelName ?? (await freeActorName(db.query, `${user.username}_channel`))
    await refuseTaken(db.query, user, channelName)
    if (channelName.toLowerCase() === user.username.toLowerCase()) {
      throw new DomainError('invalid', 'The channel cannot have the same name as the user.')
    }
    const [passwordHash, accountKeys, channelKeys] = await Promise.all([hashOf(user.password), generateKeys(), generateKeys()])
    const inserted = transact(async (unit) => {
      const row = unit.em.create(User, {
        username: user.username,
        passwordHash,
        email: user.email,
        emailVerified: user.emailVerified ?? null,
        role: user.role,
        adminFlags: user.adminFlags ?? 0,
        pluginAuth: user.pluginAuth ?? null,
        videoQuota: user.videoQuota ?? config().user.video_quota,
        videoQuotaDaily: user.videoQuotaDaily ?? config().user.video_quota_daily,
        nsfwPolicy: config().instance.default_nsfw_policy,
        p2pEnabled: config().defaults.p2p.webapp.enabled,
        videosHistoryEnabled: config().user.history.videos.enabled,
        autoPlayVideo: config().defaults.player.auto_play,
        createdAt: unit.now,
        updatedAt: unit.now,
      })
      await unit.em.flush()
      const accountActor = await insertLocalActor({
        ...deps,
        unit,
        type: 'Person',
        name: user.username,
        keys: accountKeys,
      })
      const account = createAccount(unit, {
        actorId: accountActor,
        userId: row.id,
        name: user.displayName ?? user.username,
      })
      const channelActor = await insertLocalActor({
        ...deps,
        unit,
        type: 'Group',
        name: channelName,
        keys: channelKeys,
      })
      await unit.em.flush()
      const channel = createChannel(unit, {
        actorId: channelActor,
        accountId: account.id,
        name: user.channelDisplayName ?? config().user.default_channel_name.replace('$1', () => user.username),
      })
      await unit.em.flush()
      unit.created({ aggregate: 'user', id: row.id })
      if (user.password === null) queueMail(unit, { mail: 'create-password', userId: row.id })
      const uuid = newUuid()
      createWatchLater(unit, { accountId: account.id, uuid, url: deps.urls.playlist(uuid) })
      return { id: row.id, accountId: account.id, channelId: channel.id }
    })
    return await inserted.catch((error: unknown) => {
      // A concurrent request took the names.
      throw isUniqueViolation(error) ? taken('user', channelName) : error
    })
  }

  /** Without a password, a random one until the user has chosen one. */
  const hashOf = async (password: NewUser['password']): Promise<string> =>
    typeof password === 'object' && password !== null ? password.hash : await passwords.hash(password ?? randomToken(32))

  function refuseWithoutPassword({ password }: NewUser): void {
    if (password !== null || isMailEnabled(config())) return
    const msg = 'A password is needed: this server sends no mail by which the user could choose one'
    throw new DomainError('invalid', msg, { invalidParams: [{ name: 'password', location: 'body', msg, value: '' }] })
  }

  return {
    create,
    /** The administrator `root`, on the first start only. Returns true if it was created now. */
    async ensureRoot({ password }: { password: string }): Promise<boolean> {
      const [root] = await db.query('select id from users where username = $1', [ROOT])
      if (root) return false
      try {
        await create({
          username: ROOT,
          password,
          email: config().admin.email,
          role: userRoles.administrator,
          emailVerified: true,
          videoQuota: -1,
          videoQuotaDaily: -1,
        })
        return true
      } catch (error) {
        // A concurrent process that starts on the same empty database has created it.
        if (error instanceof DomainError && error.kind === 'conflict') return false
        throw error
      }
    },
  }
}

type Taken = 'user' | 'channel' | 'former'

async function refuseTaken(query: Sql, user: NewUser, channelName: string): Promise<void> {
  const [found] = await query<{ what: Taken }>(
    `select 'user' as what from users where lower(username) = lower($1) or lower(email) = lower($2)
     union all
     select case when deleted_at is not null then 'former'
         when lower(preferred_username) = lower($3) then 'channel' else 'user' end
     from actor where host_id is null and lower(preferred_username) in (lower($1), lower($3))
     limit 1`,
    [user.username, user.email, channelName],
  )
  if (found) throw taken(found.what, channelName)
}

const TAKEN: Record<Taken, (channelName: string) => string> = {
  user: () => 'User with this username or email already exists.',
  channel: (channelName) => `Channel with name ${channelName} already exists.`,
  former: () => 'Another actor (account/channel) with this name on this instance already exists or has already existed.',
}

const taken = (what: Taken, channelName: string): DomainError => new DomainError('conflict', TAKEN[what](channelName))
