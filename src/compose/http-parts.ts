// What the areas of the REST API and the pages are made of.

import type { Abuses } from '../actors/abuse/index.ts'
import type { RemoteActors } from '../actors/actor/index.ts'
import type { ActorImages } from '../actors/actor-image/index.ts'
import type { Audit } from '../actors/audit/index.ts'
import type { Blocklist } from '../actors/blocklist/index.ts'
import type { Captions } from '../actors/caption/index.ts'
import type { Channels } from '../actors/channel/index.ts'
import type { ChannelSyncs } from '../actors/channel-sync/index.ts'
import type { CommentReviews, Comments, RemoveCommentsOf, WaitingComments } from '../actors/comment/index.ts'
import type { Contact } from '../actors/contact/index.ts'
import type { Follows } from '../actors/follow/index.ts'
import type { History } from '../actors/history/index.ts'
import type { Homepage, Instance, InstanceFactsReader } from '../actors/instance/index.ts'
import type { JobQueue } from '../actors/job-queue/index.ts'
import type { Notifications } from '../actors/notification/index.ts'
import type { OwnershipChanges } from '../actors/ownership-change/index.ts'
import type { Playlists, RemotePlaylists } from '../actors/playlist/index.ts'
import type { Ratings } from '../actors/rating/index.ts'
import type { Redundancies } from '../actors/redundancy/index.ts'
import type { Registrations } from '../actors/registration/index.ts'
import type { ActorDeps, Guesses, Runtime } from '../actors/runtime/index.ts'
import type { RuntimeConfig } from '../actors/runtime-config/index.ts'
import type { Sessions } from '../actors/session/index.ts'
import type { Studio } from '../actors/studio/index.ts'
import type { TranscodeAgain } from '../actors/transcoding/index.ts'
import type { TwoFactor } from '../actors/two-factor/index.ts'
import type { Uploads } from '../actors/upload/index.ts'
import type { EmailVerification, ManageUsers, PasswordReset, Users } from '../actors/user/index.ts'
import type { ArchiveLinks, UserExports } from '../actors/user-export/index.ts'
import type { Chapters, CreateVideo, DrawPictures, RemoveFiles, RemoveVideo, ReplaceSource, UpdateVideo } from '../actors/video/index.ts'
import type { VideoBlocks } from '../actors/video-block/index.ts'
import type { VideoImports } from '../actors/video-import/index.ts'
import type { Views } from '../actors/view/index.ts'
import type { FederationPart } from '../federation/index.ts'
import type { AppOptions } from '../http/app.ts'
import type { VideoAnswers } from '../http/videos/answers.ts'
import type { Ffmpeg, FileStore } from '../media/index.ts'
import type { Bus } from '../platform/bus/index.ts'
import type { GuardedFetch } from '../platform/fetch/index.ts'
import type { Health } from '../platform/health.ts'
import type { LoopWatch } from '../platform/loop-watch.ts'
import type { Passwords } from '../platform/passwords.ts'
import type { Redis } from '../platform/redis.ts'
import type { SignedTokens } from '../platform/signed-tokens.ts'
import type { Telemetry } from '../platform/telemetry.ts'

/** Most of it by the name of its noun. */
export interface HttpParts {
  deps: ActorDeps
  /** Public origin. */
  publicUrl: string
  /** Of the application (tests). */
  options: Pick<AppOptions, 'checkResponses' | 'onRoute'>
  abuses: Abuses
  actorImages: ActorImages
  answers: VideoAnswers
  audit: Audit
  blocklist: Blocklist
  bulkComments: RemoveCommentsOf
  bus: Bus
  captions: Captions
  channels: Channels
  channelSyncs: ChannelSyncs
  chapters: Chapters
  comments: Comments
  contact: Contact
  createVideo: CreateVideo
  drawPictures: DrawPictures['drawPictures']
  emailVerification: EmailVerification
  facts: InstanceFactsReader
  federation: FederationPart
  ffmpeg: Ffmpeg
  follows: Follows
  guesses: Guesses
  health: Health
  history: History
  homepage: Homepage
  /** Asks other servers for pictures. */
  http: GuardedFetch
  instance: Instance
  jobQueue: JobQueue
  /** Where rates are kept; in memory when left out. */
  limits: Redis | undefined
  notifications: Notifications
  ownershipChanges: OwnershipChanges
  passwordReset: PasswordReset
  passwords: Passwords
  playlists: Playlists
  ratings: Ratings
  redundancies: Redundancies
  registrations: Registrations
  remoteActors: RemoteActors
  /** Files of other servers. */
  remoteCache: FileStore
  remotePlaylists: RemotePlaylists
  replaceSource: ReplaceSource
  reviews: CommentReviews
  runtime: Runtime
  runtimeConfig: RuntimeConfig
  sessions: Sessions
  signedTokens: SignedTokens
  store: FileStore
  studio: Studio
  /** Where figures are kept. */
  telemetry: Telemetry | undefined
  loopWatch: Pick<LoopWatch, 'run'>
  transcodeAgain: TranscodeAgain
  twoFactor: TwoFactor
  uploads: Uploads
  userExports: UserExports & ArchiveLinks
  users: Users & ManageUsers
  videoBlocks: VideoBlocks
  videoImports: VideoImports
  videos: UpdateVideo & RemoveVideo & RemoveFiles
  views: Views
  waitingComments: WaitingComments
}
