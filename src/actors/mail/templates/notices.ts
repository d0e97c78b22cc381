// The facts in mails by type of notification, read when the mail is sent. All texts are untrusted.

interface NamedVideo {
  /** In the form of addresses. */
  shortUuid: string
  name: string
}

/** An account, a channel, or a server. `handle` identifies it: names can be chosen freely. */
interface Named {
  name: string
  handle: string
}

interface CommentFacts {
  video: NamedVideo
  author: Named
  text: string
  /** Of the first comment of the thread. */
  threadId: number
}

interface ReportFacts {
  id: number
  kind: 'video' | 'comment' | 'account'
}

export type Notice =
  | { kind: 'newVideoFromSubscription'; video: NamedVideo; channel: Named }
  | { kind: 'newLiveFromSubscription'; video: NamedVideo; channel: Named }
  | ({ kind: 'newCommentOnMyVideo'; isPendingReview: boolean } & CommentFacts)
  | ({ kind: 'commentMention' } & CommentFacts)
  | {
      kind: 'newAbuseForModerators'
      report: ReportFacts & {
        /** The reporter, or only its server if there is no name. */
        reporter: string
        /** The name of the video; for a comment, that of its video. */
        videoName: string | null
        reported: string
        reason: string
        /** In words. */
        predefinedReasons: readonly string[]
      }
    }
  | { kind: 'abuseStateChange'; report: ReportFacts; isAccepted: boolean }
  /** `author`: null if moderators write to the reporter. */
  | { kind: 'abuseNewMessage'; report: ReportFacts; author: string | null; text: string }
  | { kind: 'blacklistOnMyVideo'; video: NamedVideo; reason: string | null }
  | { kind: 'unblacklistOnMyVideo'; video: NamedVideo }
  | { kind: 'videoAutoBlacklistForModerators'; video: NamedVideo; channel: Named }
  | { kind: 'myVideoPublished'; video: NamedVideo }
  | { kind: 'myVideoStudioEditionFinished'; video: NamedVideo }
  | { kind: 'myVideoTranscriptionGenerated'; video: NamedVideo; language: string }
  | { kind: 'myVideoImportSuccess'; source: string; video: NamedVideo }
  | { kind: 'myVideoImportError'; source: string }
  | { kind: 'newUserRegistration'; user: Named }
  | { kind: 'newUserRegistrationRequest'; username: string; reason: string }
  | { kind: 'newFollow'; follower: Named; following: Named & { isChannel: boolean } }
  | { kind: 'newInstanceFollower'; follower: Named; isPending: boolean }
  | { kind: 'autoInstanceFollowing'; following: Named }
  | { kind: 'newPluginVersion'; npmName: string; version: string }
  | { kind: 'newPeerTubeVersion'; version: string }

export type NoticeKind = Notice['kind']
