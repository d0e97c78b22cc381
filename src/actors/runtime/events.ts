// Everything that can have happened, in the past tense. Payloads carry ids; removals also carry what is gone afterwards.

export interface EventPayloads {
  /** A local actor asked to follow: the Follow is to be sent. */
  FollowRequested: { followId: number }
  /** The other side accepted a local follow: its history may be fetched. */
  FollowAccepted: { followId: number }
  /** The other side rejected a local follow, or never answered. */
  FollowRejected: { followId: number }
  /** A local actor stopped following: an Undo is to be sent. */
  FollowWithdrawn: { followId: number; followUrl: string; followerId: number; targetId: number }
  /** We accepted a follower: an Accept is to be sent. */
  FollowerAccepted: { followId: number }
  /** We rejected a follower: a Reject is to be sent. */
  FollowerRejected: { followId: number }
  /** We removed a follower: a Reject is to be sent. */
  FollowerRemoved: { followId: number; followUrl: string; followerId: number; targetId: number }
  /** Another server's actor began to follow a local one, or asks to and waits for an answer. */
  FollowerArrived: { followId: number }
  /** The instance began to follow another one without being told to by anybody. */
  FollowedAutomatically: { followId: number }

  /** A local actor has another name, description or picture: an Update is to be sent. */
  ActorUpdated: { actorId: number }

  /** `again`: others may have heard of it before, and of its end. */
  VideoPublished: { videoId: number; again?: boolean }
  VideoUpdated: { videoId: number }
  /**
   * A local video can be watched by those for whom it is, whatever its privacy: it has its first files, or its schedule or its
   * owner shows it to more people. `after` says which.
   */
  VideoShown: { videoId: number; after: 'upload' | 'transcoding' | 'schedule' | 'change' }
  /** A video of another server that is new to the world, or to all who are not its friends, is here. */
  VideoReceived: { videoId: number }
  /** A studio edition is done. */
  VideoEdited: { videoId: number; editionId: number }
  VideoImportSucceeded: { importId: number }
  /** For this time: its user may try it again. */
  VideoImportFailed: { importId: number; at: number }
  /** The instance hides the video; other servers forget it, if the block says so. `byUserId`: the moderator. */
  VideoBlocked: { videoId: number; byUserId?: number }
  /** The instance shows the video again: other servers are to hear of it as it is now. */
  VideoUnblocked: { videoId: number }
  /** A moderator (`byUserId`) ended a block, whatever others hear of it. `automatic`: nobody had asked for that block. */
  VideoBlockEnded: { videoId: number; blockId: number; automatic: boolean; byUserId: number }
  /** A video is gone, or no longer to be seen: a Delete is to be sent. */
  VideoRemoved: { videoId: number; url: string; accountActorId: number; channelActorId: number }

  /** What is in playlists changed with a video of theirs: this event covers those up to this one, more may follow. */
  PlaylistsOfVideoTold: { videoId: number; lastPlaylistId: number }

  CommentCreated: { commentId: number }
  /** A comment that waited is shown. */
  CommentApproved: { commentId: number }
  /** What a comment answers waits no more, so that it is shown with it. */
  CommentShown: { commentId: number }
  /** What answers a comment is shown with it: this event covers answers up to this one, more may follow. */
  AnswersShown: { commentId: number; lastId: number }
  /** A comment of another server on a local video was removed without having been shown: notify its server. */
  CommentRefused: { commentId: number; url: string; actorId: number; videoId: number; parentUrl: string }
  /** A comment that was shown waits again, since it says something else. */
  CommentHeldAgain: { commentId: number; videoId: number }
  CommentRemoved: { commentId: number; url: string; actorId: number; videoId: number; parentUrl: string }
  /** A local comment that went with a video of another server, which still has it, does not come back. */
  KeptCommentRemoved: { url: string; actorId: number; channelActorId: number }

  /** Others may read the playlist from now on. */
  PlaylistCreated: { playlistId: number }
  /** The playlist, or what is in it, changed. */
  PlaylistUpdated: { playlistId: number }
  /** A playlist is gone, or no longer for others: a Delete is to be sent. */
  PlaylistRemoved: { playlistId: number; url: string; accountActorId: number; channelActorId: number | null }

  RatingSet: { ratingId: number; videoId: number }
  RatingRemoved: { url: string; type: 'like' | 'dislike'; actorId: number; videoId: number }

  /** So many watch a video now, until `expiresAt` (ms) if nothing more is said; of ours with those of other servers. */
  ViewersCounted: { videoId: number; viewers: number; expiresAt: number }
  /** A video of another server was viewed here so many times since the last report. */
  ViewsCounted: { videoId: number; views: number; at: number }
  /** Somebody has watched a video of another server, and is gone: its server is to hear what was watched. */
  WatchEnded: { watchId: number; videoId: number }

  /** A user is gone, and all that is the user's is to go. */
  UserRemoved: { userId: number }
  /** Nothing of a local account is left but the names of its actors: their Deletes are to be sent. */
  AccountRemoved: { actorId: number; url: string; channels: { actorId: number; url: string }[] }

  /** A channel is gone, and all that is in it is to go. */
  ChannelRemoved: { channelId: number; url: string }
  /** Nothing of a local channel is left but the name of its actor: its Delete is to be sent. */
  ChannelEmptied: { actorId: number; url: string; accountActorId: number }

  /** A host that was given up is there again. */
  HostAwoke: { hostId: number }

  /** Something was reported. When it is of another server and who reports is ours, that server is to hear of it. */
  AbuseReported: { abuseId: number }
  /** A moderator accepted or rejected a report. */
  AbuseDecided: { abuseId: number; byUserId: number }
  /** Who reported, or a moderator, wrote about a report. */
  AbuseMessageWritten: { abuseId: number; messageId: number }
  /** Somebody made an account here, without being asked to wait. */
  UserRegistered: { userId: number }
  /** Somebody asks for an account. */
  RegistrationRequested: { registrationId: number }
  /** There is a newer release of the software than the one that runs, and than those that were reported before. */
  NewVersionReleased: { version: string }
  /** The instance or (`ownerId`, an account) a user blocked an account or a server: follows are to end. */
  AccountBlocked: { blockId: number }
  ServerBlocked: { blockId: number }
  /** A copy of another server's video is stored here: notify that server. */
  RedundancyStored: { redundancyId: number }
  /** A local copy is kept for longer. */
  RedundancyRenewed: { redundancyId: number }
  /** A local copy is about to go: notify those who know of it, then remove its files. */
  RedundancyRemoved: { redundancyId: number }
}

export type EventName = keyof EventPayloads

export type DomainEvent = { [N in EventName]: { name: N; payload: EventPayloads[N] } }[EventName]

/** The aggregate that an event belongs to: events of one aggregate are carried on in order. */
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
    | 'ownership_change'
    | 'video_import'
    | 'user_export'
    | 'user_import'
    | 'channel_sync'
    | 'job_queue'
  id: number
}
