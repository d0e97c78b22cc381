// All events, in the past tense. Payloads carry ids; removals also carry what cannot be read afterwards.

export interface EventPayloads {
  /** A local actor requested to follow: send the Follow. */
  FollowRequested: { followId: number }
  /** The other side accepted a local follow: its history may be fetched. */
  FollowAccepted: { followId: number }
  /** The other side rejected a local follow, or never answered. */
  FollowRejected: { followId: number }
  /** A local actor stopped following: send an Undo. */
  FollowWithdrawn: { followId: number; followUrl: string; followerId: number; targetId: number }
  /** The instance accepted a follower: send an Accept. */
  FollowerAccepted: { followId: number }
  /** The instance rejected a follower: send a Reject. */
  FollowerRejected: { followId: number }
  /** The instance removed a follower: send a Reject. */
  FollowerRemoved: { followId: number; followUrl: string; followerId: number; targetId: number }
  /** A remote actor follows a local one, or requests to. */
  FollowerArrived: { followId: number }
  /** The instance followed another one by configuration. */
  FollowedAutomatically: { followId: number }

  /** The name, description or picture of a local actor changed: send an Update. */
  ActorUpdated: { actorId: number }

  /** `again`: others may know the video, and its removal, already. */
  VideoPublished: { videoId: number; again?: boolean }
  VideoUpdated: { videoId: number }
  /**
   * A local video became watchable for its audience, whatever its privacy: it got its first files, or its schedule or its owner shows it to
   * more people. `after` is the reason.
   */
  VideoShown: { videoId: number; after: 'upload' | 'transcoding' | 'schedule' | 'change' }
  /** A stream of a live can be watched; also of a remote live. */
  LiveStarted: { videoId: number }
  /** The stream of a local live is over, and its publisher will not come back to it. */
  LiveEnded: { videoId: number }
  /** A piece of a stream is stored that has to be encoded. */
  LivePieceStored: { liveSessionId: number }
  /** A remote video arrived that is new to everybody, or to all but its friends. */
  VideoReceived: { videoId: number }
  /** A studio edition has ended. */
  VideoEdited: { videoId: number; editionId: number }
  /** Captions were made from the sound of a video. */
  VideoTranscribed: { videoId: number; captionId: number }
  VideoImportSucceeded: { importId: number }
  /** At this time: its user may retry it. */
  VideoImportFailed: { importId: number; at: number }
  /** The instance blocks the video; other servers delete it, if the block demands it. `byUserId`: the moderator. */
  VideoBlocked: { videoId: number; byUserId?: number }
  /** The instance shows the video again: send its current state to other servers. */
  VideoUnblocked: { videoId: number }
  /** A moderator (`byUserId`) ended a block, whether or not it was federated. `automatic`: nobody had requested that block. */
  VideoBlockEnded: { videoId: number; blockId: number; automatic: boolean; byUserId: number }
  /** A video was removed or hidden: send a Delete. */
  VideoRemoved: { videoId: number; url: string; accountActorId: number; channelActorId: number }

  /** Playlists changed with one of their videos: this event covers those up to this id, more events may follow. */
  PlaylistsOfVideoTold: { videoId: number; lastPlaylistId: number }

  CommentCreated: { commentId: number }
  /** A comment that was pending review is visible. */
  CommentApproved: { commentId: number }
  /** The parent of a comment is not pending review any more, so that both are visible. */
  CommentShown: { commentId: number }
  /** Replies became visible with their comment: this event covers those up to this id, more events may follow. */
  AnswersShown: { commentId: number; lastId: number }
  /** A remote comment on a local video was removed without having been visible: notify its server. */
  CommentRefused: { commentId: number; url: string; actorId: number; videoId: number; parentUrl: string }
  /** An edited comment is pending review again. */
  CommentHeldAgain: { commentId: number; videoId: number }
  CommentRemoved: { commentId: number; url: string; actorId: number; videoId: number; parentUrl: string }
  /** A retained comment of a local user will not come back; the server of the video still has it. */
  KeptCommentRemoved: { url: string; actorId: number; channelActorId: number }

  /** A playlist became visible to others. */
  PlaylistCreated: { playlistId: number }
  /** A playlist, or its content, changed. */
  PlaylistUpdated: { playlistId: number }
  /** A playlist was removed or hidden: send a Delete. */
  PlaylistRemoved: { playlistId: number; url: string; accountActorId: number; channelActorId: number | null }

  RatingSet: { ratingId: number; videoId: number }
  RatingRemoved: { url: string; type: 'like' | 'dislike'; actorId: number; videoId: number }

  /** Current viewers of a video, local and remote, valid until `expiresAt` (ms). */
  ViewersCounted: { videoId: number; viewers: number; expiresAt: number }
  /** Local views of a remote video since the last report. */
  ViewsCounted: { videoId: number; views: number; at: number }
  /** A viewer of a remote video has left: report what was watched to its server. */
  WatchEnded: { watchId: number; videoId: number }

  /** A user was removed: remove all data of the user. */
  UserRemoved: { userId: number }
  /** All data of a local account is removed but the names of its actors: send their Deletes. */
  AccountRemoved: { actorId: number; url: string; channels: { actorId: number; url: string }[] }

  /** A channel was removed: remove its content. */
  ChannelRemoved: { channelId: number; url: string }
  /** All content of a local channel is removed but the name of its actor: send its Delete. */
  ChannelEmptied: { actorId: number; url: string; accountActorId: number }

  /** A job of remote runners failed for the last time, or was cancelled by an administrator: end what waits for it. */
  RunnerJobFailed: { jobId: number; type: string; data: Readonly<Record<string, unknown>>; error: string }

  /** A dormant host is reachable again. */
  HostAwoke: { hostId: number }

  /** An abuse was reported. If the content is remote and the reporter local, notify its server. */
  AbuseReported: { abuseId: number }
  /** A moderator accepted or rejected a report. */
  AbuseDecided: { abuseId: number; byUserId: number }
  /** The reporter or a moderator wrote a message about a report. */
  AbuseMessageWritten: { abuseId: number; messageId: number }
  /** Somebody registered without an approval. */
  UserRegistered: { userId: number }
  /** Somebody requested an account. */
  RegistrationRequested: { registrationId: number }
  /** A release exists that is newer than the running version and those reported before. */
  NewVersionReleased: { version: string }
  /** The index has another version of an installed plugin than before. */
  NewPluginVersionReleased: { pluginId: number; version: string }
  /** The instance or a user (`ownerId`, an account) blocked an account or a server: its follows end. */
  AccountBlocked: { blockId: number }
  ServerBlocked: { blockId: number }
  /** A copy of a remote video is stored here: notify its server. */
  RedundancyStored: { redundancyId: number }
  /** The expiry of a local copy was extended. */
  RedundancyRenewed: { redundancyId: number }
  /** A local copy is about to be removed: notify the servers that know it, then remove its files. */
  RedundancyRemoved: { redundancyId: number }
}

export type EventName = keyof EventPayloads

export type DomainEvent = { [N in EventName]: { name: N; payload: EventPayloads[N] } }[EventName]

/** The aggregate that an event belongs to: the events of one aggregate are relayed in order. */
export interface AggregateRef {
  aggregate:
    | 'follow'
    | 'history_walk'
    | 'video'
    | 'upload'
    | 'comment'
    | 'playlist'
    | 'rating'
    | 'transcoding'
    | 'actor'
    | 'incoming_activity'
    | 'two_factor'
    | 'user'
    | 'runtime_config'
    | 'registration'
    | 'abuse'
    | 'account_block'
    | 'server_block'
    | 'redundancy'
    | 'redundancy_strategy'
    | 'remote_host'
    | 'live_session'
    | 'ownership_change'
    | 'video_import'
    | 'user_export'
    | 'user_import'
    | 'channel_sync'
    | 'job_queue'
    | 'runner_job'
    | 'plugin'
  id: number
}
