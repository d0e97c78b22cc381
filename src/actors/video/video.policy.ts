// Who may see, change and remove a video. Pure: takes rows and the viewer, and throws a refusal or returns.

import { DomainError } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { hasRight, type UserRight } from '../user/index.ts'
import { videoPrivacies } from './video.entity.ts'

/** The properties that decide whether everybody may see a video. */
export interface Openness {
  privacy: number
  /** Blocked by the instance: only its owner and the staff see it. */
  blocked: boolean
}

/** The properties that decide who may do what with a video. */
export interface GuardedVideo extends Openness {
  remote: boolean
  /** The account that owns its channel. */
  ownerAccountId: number
}

export interface SeeOptions {
  /** True if it was requested by its numeric id. Unlisted videos are shown by UUID only, since ids can be enumerated. */
  byId?: boolean
  /** Whether the visitor gave a password, and whether it is correct. */
  password?: 'none' | 'right' | 'wrong'
}

/** Throws `unauthenticated` or `forbidden` unless `viewer` may see the video. */
export function assertMaySee(video: GuardedVideo, viewer: Viewer, options: SeeOptions = {}): void {
  const { byId = false, password = 'none' } = options
  if (video.blocked) {
    assertInsider(video, viewer)
    return
  }
  switch (video.privacy) {
    case videoPrivacies.public:
      return
    case videoPrivacies.unlisted:
      if (byId) assertInsider(video, viewer)
      return
    case videoPrivacies.passwordProtected:
      // A password that was sent is checked, whoever sent it.
      if (password === 'wrong' || !isInsider(video, viewer)) assertPassword(password)
      return
    case videoPrivacies.internal:
      if (!viewer) throw unknownViewer()
      return
    default:
      assertInsider(video, viewer)
  }
}

/** The properties that decide whether a follow of the instance covers the video. */
export interface FollowedVideo {
  url: string
  remote: boolean
  /** Local, or of an actor that the instance follows. */
  listed: boolean
}

/** `search.remote_uri`: who may request remote content that the instance does not follow. */
export type RemoteUri = Readonly<Record<'users' | 'anonymous', boolean>>

export const mayAskRemote = (isUser: boolean, { users, anonymous }: RemoteUri): boolean => (isUser ? users : anonymous)

/** Throws `forbidden` for a remote video that the instance does not follow, unless the viewer may request such videos. */
export function assertFollowed(video: FollowedVideo, viewer: Viewer, remoteUri: RemoteUri): void {
  if (!video.remote || video.listed || mayAskRemote(viewer !== null, remoteUri)) return
  throw unfollowed(video.url)
}

/** `url`: address of the video, account or channel on its own server. */
export const unfollowed = (url: string): DomainError =>
  new DomainError('forbidden', 'This instance does not follow the server of this address.', {
    code: 'does_not_respect_follow_constraints',
    extra: { originUrl: url },
  })

/** True if everybody who has the link may watch, so that pages, cards and embeds show the video. */
export const isOpen = ({ privacy, blocked }: Openness): boolean => !blocked && isFederated(privacy)

/** The same for one link. A link by id does not show unlisted videos, since ids can be enumerated. */
export const isOpenBy = (video: Openness, { byId }: { byId: boolean }): boolean =>
  isOpen(video) && (!byId || video.privacy === videoPrivacies.public)

/** True if the privacy allows federation; a block may still prevent it. */
export const isFederated = (privacy: number): boolean => privacy === videoPrivacies.public || privacy === videoPrivacies.unlisted

/** True if the files are in the private folders, where each request is checked. */
export const hasPrivateFiles = (video: Openness): boolean => !isOpen(video)

/** True if `viewer` may see every video, in lists too. */
export const seesAllVideos = (viewer: Viewer): boolean => viewer !== null && hasRight(viewer.role, 'SEE_ALL_VIDEOS')

type RightToChange = Extract<UserRight, 'UPDATE_ANY_VIDEO' | 'REMOVE_ANY_VIDEO' | 'SEE_ALL_VIDEOS' | 'CHANGE_VIDEO_OWNERSHIP'>

/** True if `viewer` owns the local video or has the right. */
export const mayChange = (video: GuardedVideo, viewer: Viewer, right: RightToChange): boolean =>
  !video.remote && viewer !== null && (owns(video, viewer) || hasRight(viewer.role, right))

/** Throws `forbidden` unless `viewer` may change the video. Remote videos can be changed only by their own server. */
export function assertMayChange(video: GuardedVideo, viewer: NonNullable<Viewer>, right: RightToChange): void {
  if (video.remote) throw new DomainError('forbidden', 'Cannot manage a video of another server.')
  if (!mayChange(video, viewer, right)) throw new DomainError('forbidden', 'Cannot manage a video of another user.')
}

const isInsider = (video: GuardedVideo, viewer: Viewer): boolean => owns(video, viewer) || seesAllVideos(viewer)

const owns = (video: GuardedVideo, viewer: Viewer): boolean => viewer?.accountId === video.ownerAccountId

function assertInsider(video: GuardedVideo, viewer: Viewer): void {
  if (!viewer) throw unknownViewer()
  if (isInsider(video, viewer)) return
  throw new DomainError('forbidden', 'Cannot fetch information of private/internal/blocked video')
}

function assertPassword(password: 'none' | 'right' | 'wrong'): void {
  if (password === 'right') return
  if (password === 'wrong') {
    throw new DomainError('forbidden', 'Incorrect video password. Access to the video is denied.', {
      code: 'incorrect_video_password',
    })
  }
  throw new DomainError('forbidden', 'Please provide a password to access this password protected video', {
    code: 'video_requires_password',
  })
}

const unknownViewer = (): DomainError => new DomainError('unauthenticated', 'Not authenticated')
