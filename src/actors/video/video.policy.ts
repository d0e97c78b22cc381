// Who may see, change and remove a video. Pure: rows and the asking user go in, a refusal is thrown or nothing happens.

import { DomainError } from '../runtime/index.ts'
import { hasRight, type UserRight, type UserRole } from '../user/index.ts'
import { videoPrivacies } from './video.entity.ts'

/** Who asks: the user of a session; null for visitors. */
export type Viewer = { accountId: number; role: UserRole } | null

/** What of a video decides whether it is for everybody. */
export interface Openness {
  privacy: number
  /** By the instance: only its owner and the staff see it. */
  blocked: boolean
}

/** What of a video decides who may do what. */
export interface GuardedVideo extends Openness {
  remote: boolean
  /** The account that owns its channel. */
  ownerAccountId: number
}

export interface SeeOptions {
  /** Unlisted videos show themselves by UUID only: ids can be counted through. */
  byId?: boolean
  /** Whether the visitor gave a password, and whether it is one of the video's. */
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

/** What of a video decides whether the instance knows it by a follow. */
export interface FollowedVideo {
  url: string
  remote: boolean
  /** Local, or of an actor that the instance follows. */
  listed: boolean
}

/** `search.remote_uri`: who may ask for what the instance knows without a follow. */
export type RemoteUri = Readonly<Record<'users' | 'anonymous', boolean>>

export const mayAskRemote = (isUser: boolean, { users, anonymous }: RemoteUri): boolean => (isUser ? users : anonymous)

/** Throws `forbidden` for a remote video that the instance does not follow, unless the viewer may ask for it. */
export function assertFollowed(video: FollowedVideo, viewer: Viewer, remoteUri: RemoteUri): void {
  if (!video.remote || video.listed || mayAskRemote(viewer !== null, remoteUri)) return
  throw unfollowed(video.url)
}

/** `url`: of the video, account or channel at its own server. */
export const unfollowed = (url: string): DomainError =>
  new DomainError('forbidden', 'This instance does not follow the server of this address.', {
    code: 'does_not_respect_follow_constraints',
    extra: { originUrl: url },
  })

/** Whether everybody who has the link may watch, so that pages, cards and embeds show the video. */
export const isOpen = ({ privacy, blocked }: Openness): boolean => !blocked && isFederated(privacy)

/** The same of one link: ids can be counted through, so they do not show what is unlisted. */
export const isOpenBy = (video: Openness, { byId }: { byId: boolean }): boolean =>
  isOpen(video) && (!byId || video.privacy === videoPrivacies.public)

/** Whether its privacy lets other servers know the video; a block may still keep it from them. */
export const isFederated = (privacy: number): boolean => privacy === videoPrivacies.public || privacy === videoPrivacies.unlisted

/** Whether the files lie in the private folders, where each request is checked. */
export const hasPrivateFiles = (video: Openness): boolean => !isOpen(video)

/** Whether `viewer` may see every video there is, in lists too. */
export const seesAllVideos = (viewer: Viewer): boolean => viewer !== null && hasRight(viewer.role, 'SEE_ALL_VIDEOS')

/** Throws `forbidden` unless `viewer` owns the video or has the right. Videos of other servers are theirs to change. */
export function assertMayChange(
  video: GuardedVideo,
  viewer: NonNullable<Viewer>,
  right: Extract<UserRight, 'UPDATE_ANY_VIDEO' | 'REMOVE_ANY_VIDEO' | 'SEE_ALL_VIDEOS' | 'CHANGE_VIDEO_OWNERSHIP'>,
): void {
  if (video.remote) throw new DomainError('forbidden', 'Cannot manage a video of another server.')
  if (!owns(video, viewer) && !hasRight(viewer.role, right)) throw new DomainError('forbidden', 'Cannot manage a video of another user.')
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
