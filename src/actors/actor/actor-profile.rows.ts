// Accounts and channels as responses show them: columns for statements that read their actors.

import type { Columns, InJson } from '../../platform/database/index.ts'
import type { Account } from '../account/account.entity.ts'
import type { Channel } from '../channel/channel.entity.ts'
import type { Actor } from './actor.entity.ts'
import { type ActorImageRow, actorImageTypes, imagesOf } from './actor-image.rows.ts'

/** Of an account or channel. */
export interface ActorSummary extends Columns<Account, 'id' | 'name'>, Columns<Actor, 'url'> {
  username: string
  /** Null for local ones. */
  host: string | null
  avatars: ActorImageRow[]
}

export interface ActorProfile
  extends ActorSummary,
    InJson<Columns<Account, 'userId' | 'description' | 'updatedAt'>>,
    Columns<Channel, 'support'> {
  followers: number
  following: number
  created_at: string
  banners: ActorImageRow[]
}

const summaryPairs = (noun: string, actor: string): string =>
  `'id', ${noun}.id, 'username', ${actor}.preferred_username, 'name', ${noun}.name, 'url', ${actor}.url,
   'host', (select h.host from remote_host h where h.id = ${actor}.host_id), 'avatars', ${imagesOf(actor, actorImageTypes.avatar)}`

/** SQL for an `ActorSummary`, from the aliases of an account or channel and of its actor. */
export const summaryOf = (noun: string, actor: string): string => `jsonb_build_object(${summaryPairs(noun, actor)})`

/** SQL for an account's `ActorProfile`, from the aliases of its row and of its actor's. */
export const accountProfile = (account: string, actor: string): string =>
  `jsonb_build_object(${profilePairs(account, actor)}, 'user_id', ${account}.user_id, 'support', null)`

/** SQL for a channel's `ActorProfile`, from the aliases of its row and of its actor's. */
export const channelProfile = (channel: string, actor: string): string =>
  `jsonb_build_object(${profilePairs(channel, actor)}, 'user_id', null, 'support', ${channel}.support)`

const profilePairs = (noun: string, actor: string): string =>
  `${summaryPairs(noun, actor)}, 'description', ${noun}.description, 'followers', ${actor}.followers_count,
   'following', ${actor}.following_count, 'created_at', coalesce(${actor}.remote_created_at, ${actor}.created_at), 'updated_at', ${noun}.updated_at,
   'banners', ${imagesOf(actor, actorImageTypes.banner)}`
