// Paths of the pages of PeerTube's web client that mails link to.

interface Video {
  shortUuid: string
}

interface Report {
  id: number
}

export const watch = ({ shortUuid }: Video): string => `/w/${shortUuid}`
export const thread = (video: Video, threadId: number): string => `${watch(video)};threadId=${threadId}`
export const report = ({ id }: Report): string => `/admin/moderation/abuses/list?search=%23${id}`
export const ownReport = ({ id }: Report): string => `/my-account/abuses?search=%23${id}`

export const heldComments = '/my-library/comments-on-my-videos?search=heldForReview:true'
export const exports = '/my-account/import-export'
export const imports = '/my-library/video-imports'
export const followers = '/my-library/followers'
export const registrations = '/admin/moderation/registrations/list'
export const videosToReview = '/admin/moderation/video-blocks/list'
export const users = '/admin/overview/users/list'
export const serverFollowers = '/admin/settings/follows/followers-list'
export const serverFollowing = '/admin/settings/follows/following-list'
export const plugins = '/admin/settings/plugins/list-installed'
export const system = '/admin/settings/system/debug'
export const notifications = '/my-account/notifications'
