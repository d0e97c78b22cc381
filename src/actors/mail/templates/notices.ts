// What a mail can tell of: the facts of each type of notification, as they are when the mail is written. Everything in them may be
// the words of strangers.

interface NamedVideo {
  /** In the form of addresses. */
  shortUuid: string
  name: string
}

/** An account, a channel, or a server. `handle` tells who it is really: names can be chosen freely. */
interface Named {
  name: string
  handle: string
}

interface CommentFacts {
  video: NamedVideo
  author: Named
  text: string
  /** Of the comment that began the thread. */
  threadId: number
}

interface ReportFacts {
  id: number
  kind: 'video' | 'comment' | 'account'
}

export type Notice =
  | { kind: 'newVideoFromSubscription'; video: NamedVideo; channel: Named }
  | ({ kind: 'newCommentOnMyVideo'; isHeld: boolean } & CommentFacts)
  | ({ kind: 'commentMention' } & CommentFacts)
  | {
      kind: 'newAbuseForModerators'
      report: ReportFacts & {
        /** Who, or where there is nobody to name, which server. */
        reporter: string
        /** The name of the video; in it the comment was made, where it is about a comment. */
        videoName: string | null
        reported: string
        reason: string
        /** In words. */
        predefinedReasons: readonly string[]
      }
    }
  | { kind: 'abuseStateChange'; report: ReportFacts; isAccepted: boolean }
  /** `author`: null when it is the moderators who write to the reporter. */
  | { kind: 'abuseNewMessage'; report: ReportFacts; author: string | null; text: string }
  | { kind: 'blacklistOnMyVideo'; video: NamedVideo; reason: string | null }
  | { kind: 'unblacklistOnMyVideo'; video: NamedVideo }
  | { kind: 'videoAutoBlacklistForModerators'; video: NamedVideo; channel: Named }
  | { kind: 'myVideoPublished'; video: NamedVideo }
  | { kind: 'myVideoStudioEditionFinished'; video: NamedVideo }
  | { kind: 'myVideoImportSuccess'; source: string; video: NamedVideo }
  | { kind: 'myVideoImportError'; source: string }
  | { kind: 'newUserRegistration'; user: Named }
  | { kind: 'newUserRegistrationRequest'; username: string; reason: string }
  | { kind: 'newFollow'; follower: Named; following: Named & { isChannel: boolean } }
  | { kind: 'newInstanceFollower'; follower: Named; isPending: boolean }
  | { kind: 'autoInstanceFollowing'; following: Named }
  | { kind: 'newPeerTubeVersion'; version: string }

export type NoticeKind = Notice['kind']
