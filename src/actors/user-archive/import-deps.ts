// Dependencies of the importers: the commands with which users do the same.

import type { ActorImages } from '../actor-image/index.ts'
import type { CommentTagPolicies } from '../automatic-tag/index.ts'
import type { Blocklist } from '../blocklist/index.ts'
import type { Captions } from '../caption/index.ts'
import type { Channels } from '../channel/index.ts'
import type { History } from '../history/index.ts'
import type { NotificationSettingCommands } from '../notification-setting/index.ts'
import type { PlaylistElements, Playlists } from '../playlist/index.ts'
import type { Ratings } from '../rating/index.ts'
import type { ActorDeps } from '../runtime/index.ts'
import type { Subscriptions } from '../subscription/index.ts'
import type { UpdateMe } from '../user/index.ts'
import type { CreateVideo } from '../video/index.ts'
import type { WatchedWords } from '../watched-words/index.ts'
import type { References, ResolveRemote } from './references.ts'
import type { UnpackDeps } from './unpack.ts'

export interface ImportDeps extends UnpackDeps, Omit<ActorDeps, 'registry' | 'secrets'> {
  /** Finds a video by its address, and an account by its handle. */
  resolveRemote: { video: ResolveRemote; account: ResolveRemote }
  references: References
  /** True if a text names a server that this one may contact. */
  isHost: (text: string) => boolean
  actorImages: ActorImages
  blocklist: Blocklist
  captions: Captions
  channels: Channels
  createVideo: CreateVideo
  history: History
  notificationSettings: NotificationSettingCommands
  playlistElements: PlaylistElements
  playlists: Playlists
  ratings: Ratings
  subscriptions: Subscriptions
  tagPolicies: CommentTagPolicies
  updateMe: UpdateMe
  watchedWords: WatchedWords
}
