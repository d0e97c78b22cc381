// A notification of each type, with hostile text in every field.

import type { Notice } from '../../../src/actors/mail/templates/notices.ts'

export function notices(words: string): Notice[] {
  const video = { shortUuid: '3gJ8mpnQUZfXzLYxoaDrhF', name: words }
  const named = { name: words, handle: 'tom@videos.example' }
  const comment = { video, author: named, text: words, threadId: 7 }
  const report = { id: 12, kind: 'comment' } as const
  return [
    { kind: 'newVideoFromSubscription', video, channel: named },
    { kind: 'newLiveFromSubscription', video, channel: named },
    { kind: 'newCommentOnMyVideo', isPendingReview: false, ...comment },
    { kind: 'newCommentOnMyVideo', isPendingReview: true, ...comment },
    { kind: 'commentMention', ...comment },
    ...(['video', 'comment', 'account'] as const).map((kind): Notice => {
      const about = { reporter: words, videoName: words, reported: words, reason: words, predefinedReasons: ['spam'] }
      return { kind: 'newAbuseForModerators', report: { id: 12, kind, ...about } }
    }),
    { kind: 'abuseStateChange', report, isAccepted: true },
    { kind: 'abuseNewMessage', report, author: words, text: words },
    { kind: 'abuseNewMessage', report, author: null, text: words },
    { kind: 'videoAutoBlacklistForModerators', video, channel: named },
    { kind: 'blacklistOnMyVideo', video, reason: words },
    { kind: 'blacklistOnMyVideo', video, reason: null },
    { kind: 'unblacklistOnMyVideo', video },
    { kind: 'myVideoPublished', video },
    { kind: 'myVideoStudioEditionFinished', video },
    { kind: 'myVideoTranscriptionGenerated', video, language: 'French' },
    { kind: 'myVideoImportSuccess', source: words, video },
    { kind: 'myVideoImportError', source: words },
    { kind: 'newUserRegistration', user: named },
    { kind: 'newUserRegistrationRequest', username: words, reason: words },
    { kind: 'newFollow', follower: named, following: { ...named, isChannel: true } },
    { kind: 'newFollow', follower: named, following: { ...named, isChannel: false } },
    { kind: 'newInstanceFollower', follower: named, isPending: true },
    { kind: 'newInstanceFollower', follower: named, isPending: false },
    { kind: 'autoInstanceFollowing', following: named },
    { kind: 'newPluginVersion', npmName: 'peertube-plugin-example', version: words },
    { kind: 'newPeerTubeVersion', version: words },
  ]
}
