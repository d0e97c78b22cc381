// External dependencies of the nouns, which the composition root provides.

import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Registry } from './registry.ts'
import type { Tell } from './tell.ts'

export interface ActorDeps {
  db: Database
  tell: Tell
  registry: Registry
  clock: Clock
  logger: Logger
  config: () => Config
  secrets: Secrets
  urls: LocalUrls
}

/** The addresses of local actors and objects, which are their ActivityPub ids. */
export interface LocalUrls {
  /** Origin without a trailing slash, such as `https://video.example`. */
  origin: string
  /** Host, with its port unless that is the default. */
  host: string
  /** Public address of a file in object storage; undefined if this server proxies it. */
  objectAddress(file: { kind: 'web_videos' | 'streaming_playlists'; name: string }): string | undefined
  /** Origins to which readers of such files may be redirected. */
  bucketOrigins: readonly string[]
  sharedInbox: string
  account(name: string): string
  channel(name: string): string
  actorCollection(actorUrl: string, collection: 'inbox' | 'outbox' | 'followers' | 'following' | 'playlists'): string
  publicKey(actorUrl: string): string
  video(uuid: string): string
  playlist(uuid: string): string
  comment(videoUuid: string, commentId: number): string
  follow(followerUrl: string, followId: number): string
  report(abuseId: number): string
  like(actorUrl: string, videoId: number): string
  dislike(actorUrl: string, videoId: number): string
  watchAction(uuid: string): string
  fileRedundancy(file: { uuid: string; resolution: number; fps?: number }): string
  playlistRedundancy(uuid: string): string
}
