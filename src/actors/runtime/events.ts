// Everything that can have happened, in the past tense. Payloads carry ids; removals also carry what is gone afterwards.

export interface EventPayloads {
  /** A local actor asked to follow: the Follow is to be sent. */
  FollowRequested: { followId: number }
  /** The other side accepted a follow of ours: its history may be fetched. */
  FollowAccepted: { followId: number }
  /** The other side rejected a follow of ours, or never answered. */
  FollowRejected: { followId: number }
  /** A local actor stopped following: an Undo is to be sent. */
  FollowWithdrawn: { followId: number; followUrl: string; followerId: number; targetId: number }
  /** We accepted a follower: an Accept is to be sent. */
  FollowerAccepted: { followId: number }
  /** We rejected a follower: a Reject is to be sent. */
  FollowerRejected: { followId: number }
  /** We removed a follower: a Reject is to be sent. */
  FollowerRemoved: { followId: number; followUrl: string; followerId: number; targetId: number }

  /** An actor of ours has another name, description or picture: an Update is to be sent. */
  ActorUpdated: { actorId: number }

  VideoPublished: { videoId: number }
  VideoUpdated: { videoId: number }
  /** A video is gone, or no longer to be seen: a Delete is to be sent. */
  VideoRemoved: { videoId: number; url: string; accountActorId: number; channelActorId: number }

  CommentCreated: { commentId: number }
  /** A comment that waited is shown. */
  CommentApproved: { commentId: number }
  /** A comment of another server on a video of ours was removed without having been shown: its server is to be told. */
  CommentRefused: { commentId: number; url: string; actorId: number; videoId: number; parentUrl: string }
  /** A comment that was shown waits again, since it says something else. */
  CommentHeldAgain: { commentId: number; videoId: number }
  CommentRemoved: { commentId: number; url: string; actorId: number; videoId: number; parentUrl: string }

  RatingSet: { ratingId: number; videoId: number }
  RatingRemoved: { url: string; type: 'like' | 'dislike'; actorId: number; videoId: number }

  /** A user is gone, and all that is the user's is to go. */
  UserRemoved: { userId: number }
  /** Nothing of an account of ours is left but the names of its actors: their Deletes are to be sent. */
  AccountRemoved: { actorId: number; url: string; channels: { actorId: number; url: string }[] }
}

export type EventName = keyof EventPayloads

export type DomainEvent = { [N in EventName]: { name: N; payload: EventPayloads[N] } }[EventName]

/** The aggregate that an event belongs to: events of one aggregate are carried on in order. */
export interface AggregateRef {
  aggregate:
    | 'follow'
    | 'video'
    | 'upload'
    | 'comment'
    | 'rating'
    | 'transcoding'
    | 'actor'
    | 'incoming_activity'
    | 'two_factor'
    | 'user'
    | 'runtime_config'
    | 'registration'
  id: number
}
