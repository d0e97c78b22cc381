// Accounts and channels as responses show them: columns for statements that read their actors.

import { type ActorImageRow, actorImageTypes, imagesOf } from './actor-image.rows.ts'

export interface ActorSummary {
  /** Id of the account or channel. */
  id: number
  username: string
  name: string
  url: string
  /** Null for local ones. */
  host: string | null
  avatars: ActorImageRow[]
}

export interface ActorProfile extends ActorSummary {
  user_id: number | null
  description: string | null
  support: string | null
  followers: number
  following: number
  created_at: string
  updated_at: string
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
