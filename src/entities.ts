// All entities, for the composition of the database and for the check that compares them with the migrations.

import { Abuse, AbuseMessage, AbuseTotal, AbuseTotalDelta } from './actors/abuse/abuse.entity.ts'
import { Account } from './actors/account/account.entity.ts'
import { Actor, ActorTotal, ActorTotalDelta } from './actors/actor/actor.entity.ts'
import { ActorImage } from './actors/actor-image/actor-image.entity.ts'
import { AuditLog } from './actors/audit/audit.entity.ts'
import { CommentAutomaticTag, CommentTagPolicy, VideoAutomaticTag } from './actors/automatic-tag/automatic-tag.entity.ts'
import { AccountBlock, ServerBlock } from './actors/blocklist/blocklist.entity.ts'
import { VideoCaption } from './actors/caption/caption.entity.ts'
import { Channel, ChannelSearch } from './actors/channel/channel.entity.ts'
import { ChannelSync } from './actors/channel-sync/channel-sync.entity.ts'
import { VideoChapter } from './actors/chapter/chapter.entity.ts'
import { Comment, CommentMention, CommentTotal, CommentTotalDelta, KeptComment, WaitingComment } from './actors/comment/comment.entity.ts'
import { ContactMessage, ContactSender } from './actors/contact/contact.entity.ts'
import { Reconciliation } from './actors/counters/counters.entity.ts'
import { Delivery, Document } from './actors/delivery/delivery.entity.ts'
import { ExternalIdentity, ExternalLoginToken } from './actors/external-login/external-login.entity.ts'
import { Follow, HistoryItem, HistoryPage, HistoryWalk } from './actors/follow/follow.entity.ts'
import { History } from './actors/history/history.entity.ts'
import { InboundDecision } from './actors/inbound-decision/inbound-decision.entity.ts'
import { ActivityRate, ActivityTotal, ActivityTotalDelta, IncomingActivity } from './actors/incoming-activity/incoming-activity.entity.ts'
import { CustomPage, OauthClient, Setting } from './actors/instance/instance.entity.ts'
import { InteractionMiss, InteractionsCleaning } from './actors/interaction/interaction.entity.ts'
import { JobQueue } from './actors/job-queue/job-queue.entity.ts'
import { LivePiece, LiveRemotePiece, LiveRenditionPiece, LiveSession, VideoLive } from './actors/live/live.entity.ts'
import { MailLink } from './actors/mail/mail.entity.ts'
import { Notification, NotificationMailWindow, PushSubscription } from './actors/notification/notification.entity.ts'
import { NotificationSetting } from './actors/notification-setting/notification-setting.entity.ts'
import { OwnershipChange, VideoToldOwner } from './actors/ownership-change/ownership-change.entity.ts'
import { Playlist, PlaylistElement, PlaylistTotal, PlaylistTotalDelta } from './actors/playlist/playlist.entity.ts'
import { Plugin, PluginData } from './actors/plugin/plugin.entity.ts'
import { KeptRating, Rating } from './actors/rating/rating.entity.ts'
import { Redundancy, RedundancyStrategy } from './actors/redundancy/redundancy.entity.ts'
import { Registration } from './actors/registration/registration.entity.ts'
import { RemoteHost } from './actors/remote-host/remote-host.entity.ts'
import { Runner, RunnerRegistrationToken } from './actors/runner/runner.entity.ts'
import { Job, Lane, Outbox, PeriodicTask } from './actors/runtime/runtime.entity.ts'
import { RuntimeConfig, RuntimeConfigChange } from './actors/runtime-config/runtime-config.entity.ts'
import { ApplicationToken, FeedToken, Session, SpentRefreshToken } from './actors/session/session.entity.ts'
import { Share } from './actors/share/share.entity.ts'
import { SpareCopy, StorageMove } from './actors/storage-move/storage-move.entity.ts'
import { Storyboard } from './actors/storyboard/storyboard.entity.ts'
import { VideoEdition, VideoEditionTask } from './actors/studio/studio.entity.ts'
import { Transcoding } from './actors/transcoding/transcoding.entity.ts'
import { TwoFactor } from './actors/two-factor/two-factor.entity.ts'
import { Upload } from './actors/upload/upload.entity.ts'
import { User } from './actors/user/user.entity.ts'
import { ImportedObject } from './actors/user-archive/imported-object.entity.ts'
import { UserExport } from './actors/user-export/user-export.entity.ts'
import { UserImport } from './actors/user-import/user-import.entity.ts'
import { PendingFile, StreamingPlaylist, VideoComingFile, VideoFile, VideoPlacement, VideoRetiming } from './actors/video/files.entity.ts'
import {
  Thumbnail,
  Video,
  VideoCount,
  VideoCountDelta,
  VideoDayViews,
  VideoDelta,
  VideoPassword,
  VideoSchedule,
  VideoSource,
  VideoTag,
  VideoTotal,
  VideoTotalDelta,
} from './actors/video/video.entity.ts'
import { KeptVideoBlock, VideoBlock } from './actors/video-block/video-block.entity.ts'
import { VideoImport } from './actors/video-import/video-import.entity.ts'
import { RemoteViewer, RemoteViewQuota, Viewer, ViewerSalt, Viewing, ViewSign, Watch } from './actors/view/view.entity.ts'
import { WatchedWordsList } from './actors/watched-words/watched-words.entity.ts'
import { Kv } from './federation/kv.entity.ts'

export const entities = [
  Abuse,
  AbuseMessage,
  AbuseTotal,
  AbuseTotalDelta,
  Account,
  AccountBlock,
  ActivityRate,
  ActivityTotal,
  ActivityTotalDelta,
  Actor,
  ActorImage,
  ActorTotal,
  ActorTotalDelta,
  ApplicationToken,
  AuditLog,
  Channel,
  ChannelSearch,
  ChannelSync,
  Comment,
  CommentAutomaticTag,
  CommentMention,
  CommentTagPolicy,
  CommentTotal,
  CommentTotalDelta,
  ContactMessage,
  ContactSender,
  CustomPage,
  Delivery,
  Document,
  ExternalIdentity,
  ExternalLoginToken,
  FeedToken,
  Follow,
  History,
  HistoryItem,
  HistoryPage,
  HistoryWalk,
  ImportedObject,
  InboundDecision,
  IncomingActivity,
  InteractionMiss,
  InteractionsCleaning,
  Job,
  JobQueue,
  KeptComment,
  KeptRating,
  KeptVideoBlock,
  Kv,
  Lane,
  LivePiece,
  LiveRemotePiece,
  LiveRenditionPiece,
  LiveSession,
  MailLink,
  Notification,
  NotificationMailWindow,
  NotificationSetting,
  OauthClient,
  Outbox,
  OwnershipChange,
  PendingFile,
  PeriodicTask,
  Playlist,
  PlaylistElement,
  PlaylistTotal,
  PlaylistTotalDelta,
  Plugin,
  PluginData,
  PushSubscription,
  Rating,
  Reconciliation,
  Redundancy,
  RedundancyStrategy,
  Registration,
  RemoteHost,
  RemoteViewQuota,
  RemoteViewer,
  Runner,
  RunnerRegistrationToken,
  RuntimeConfig,
  RuntimeConfigChange,
  ServerBlock,
  Session,
  Setting,
  Share,
  SpareCopy,
  SpentRefreshToken,
  StorageMove,
  Storyboard,
  StreamingPlaylist,
  Thumbnail,
  Transcoding,
  TwoFactor,
  Upload,
  User,
  UserExport,
  UserImport,
  Video,
  VideoAutomaticTag,
  VideoBlock,
  VideoCaption,
  VideoChapter,
  VideoComingFile,
  VideoCount,
  VideoCountDelta,
  VideoDayViews,
  VideoDelta,
  VideoEdition,
  VideoEditionTask,
  VideoFile,
  VideoImport,
  VideoLive,
  VideoPassword,
  VideoPlacement,
  VideoRetiming,
  VideoSchedule,
  VideoSource,
  VideoTag,
  VideoToldOwner,
  VideoTotal,
  VideoTotalDelta,
  ViewSign,
  Viewer,
  ViewerSalt,
  Viewing,
  WaitingComment,
  Watch,
  WatchedWordsList,
]
