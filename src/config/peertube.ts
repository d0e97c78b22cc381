// Keys of PeerTube's files without an equivalent here: older names, and keys without effect.

/** Old name, new name. */
export const RENAMED: ReadonlyMap<string, string> = new Map([
  ['storage.videos', 'storage.web_videos'],
  ['object_storage.videos', 'object_storage.web_videos'],
  ['transcoding.webtorrent', 'transcoding.web_videos'],
  ['views.videos.ip_view_expiration', 'views.videos.view_expiration'],
])

/** Sections and keys that are accepted, reported as without effect unless they are empty, and left out. */
export const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'client.browse_videos',
  'client.header',
  'client.new_features_info',
  'defaults.player.theme',
  'import.videos.http.proxy',
  'import.videos.http.youtube_dl_release.url',
  'instance.default_language',
  'nsfw_flags_settings',
  // Read through this server, or at signed addresses.
  'object_storage.captions.base_url',
  'object_storage.original_video_files.base_url',
  'object_storage.user_exports.base_url',
  'services.csp-logger',
  'services.twitter.whitelisted',
  'storage.uploads',
  'theme.customization',
  'user.password_constraints',
  'video_comments',
])
