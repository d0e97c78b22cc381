// Users: made together with their account and their first channel.

import { generateActorKeys } from '../../platform/keys.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { Account } from '../account/account.entity.ts'
import { insertLocalActor } from '../actor/index.ts'
import { Channel } from '../channel/channel.entity.ts'
import { insertWatchLater } from '../playlist/index.ts'
import { type ActorDeps, DomainError } from '../runtime/index.ts'
import { User, type UserRole, userRoles } from './user.entity.ts'

export interface NewUser {
  username: string
  password: string
  email: string
  role: UserRole
  emailVerified?: boolean
  /** Bytes, -1 for no limit; the configuration's values when left out. */
  videoQuota?: number
  videoQuotaDaily?: number
  /** The name of the first channel; `<username>_channel` when left out. */
  channelName?: string
}

export interface CreatedUser {
  id: number
  accountId: number
  channelId: number
}

export interface Users {
  /** Throws DomainError `conflict` when the name, the address or the channel's name is taken. */
  create(user: NewUser): Promise<CreatedUser>
  /** The administrator `root`, on the first start only. Answers whether it was made now. */
  ensureRoot(options: { password: string }): Promise<boolean>
}

export function makeUsers(deps: ActorDeps & { passwords: Passwords }): Users {
  const { db, tell, config, passwords } = deps

  async function create(user: NewUser): Promise<CreatedUser> {
    const [passwordHash, accountKeys, channelKeys] = await Promise.all([
      passwords.hash(user.password),
      generateActorKeys(),
      generateActorKeys(),
    ])
    const channelName = user.channelName ?? `${user.username}_channel`
    return await tell.create(async (unit) => {
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
        p2pEnabled: config().defaults.p2p.webapp.enabled,
        videosHistoryEnabled: config().user.history.videos.enabled,
        autoPlayVideo: config().defaults.player.auto_play,
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
        name: user.username,
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
        name: config().user.default_channel_name.replace('$1', user.username),
        ...stamps,
      })
      await unit.em.flush()
      await insertWatchLater(unit, account.id)
      return { id: row.id, accountId: account.id, channelId: channel.id }
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
  const [taken] = await query<{ what: string }>(
    `select 'username' as what from users where lower(username) = lower($1)
     union all select 'email' from users where lower(email) = lower($2)
     union all select 'actor name' from actor where host_id is null and lower(preferred_username) in (lower($1), lower($3))`,
    [user.username, user.email, channelName],
  )
  if (taken) throw new DomainError('conflict', `This ${taken.what} is already taken.`)
}
