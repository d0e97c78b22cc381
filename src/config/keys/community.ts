// Keys of people and presentation: the instance's page, registration, users, lists, search, the web client.

import { choice, EDITABLE, flag, integer, integers, limitedSize, optionalInteger, optionalSize, section, text, texts } from '../kinds.ts'

const enabledStat = (of: string) => section({ enabled: flag(true, `whether ${of} are in the public statistics`) })

/** Of a server that nobody has named. */
export const DEFAULT_NAME = 'Vireo'

/** What may be done with sensitive videos; `warn` was added in later versions of the contract. */
export const nsfwPolicies = ['do_not_list', 'warn', 'blur', 'display'] as const

const ROBOTS = 'User-agent: *\nDisallow:\n'

export const communityKeys = {
  instance: section({
    name: text(DEFAULT_NAME, "the server's name", EDITABLE),
    short_description: text('A video server of the federated web.', 'one sentence, plain text', EDITABLE),
    description: text('Welcome!', 'what the server is about, Markdown', EDITABLE),
    terms: text('No terms for now.', 'terms of use, Markdown', EDITABLE),
    code_of_conduct: text('', 'code of conduct, Markdown', EDITABLE),
    moderation_information: text('', 'who moderates and how, Markdown', EDITABLE),
    creation_reason: text('', 'why the server exists, Markdown', EDITABLE),
    administrator: text('', 'who runs it, Markdown', EDITABLE),
    maintenance_lifetime: text('', 'how long it will run, Markdown', EDITABLE),
    business_model: text('', 'who pays, Markdown', EDITABLE),
    hardware_information: text('', 'on what it runs, Markdown', EDITABLE),
    languages: texts([], 'main languages, as codes', EDITABLE),
    categories: integers([], 'main categories, as numbers', EDITABLE),
    server_country: text('', 'location of the server', EDITABLE),
    support: section({ text: text('', 'how to support it, Markdown', EDITABLE) }),
    social: section({
      external_link: text('', "the team's own page", EDITABLE),
      mastodon_link: text('', 'page at Mastodon', EDITABLE),
      bluesky_link: text('', 'page at Bluesky', EDITABLE),
    }),
    default_client_route: text('/videos/trending', 'first page of the web client', EDITABLE),
    is_nsfw: flag(false, 'whether most of its videos are sensitive', EDITABLE),
    default_nsfw_policy: choice('do_not_list', nsfwPolicies, 'what visitors see of sensitive videos', EDITABLE),
    customizations: section({
      javascript: text('', 'script added to each page of a web client', EDITABLE),
      css: text('', 'style added to each page of a web client', EDITABLE),
    }),
    robots: text(ROBOTS, 'content of /robots.txt'),
    securitytxt: text('', 'content of /.well-known/security.txt; empty: the contact form is the contact'),
  }),
  broadcast_message: section({
    enabled: flag(false, 'whether a message is shown above each page', EDITABLE),
    message: text('', 'the message, Markdown', EDITABLE),
    level: choice('info', ['info', 'warning', 'error'], 'how it looks', EDITABLE),
    dismissable: flag(false, 'whether web clients let people close it', EDITABLE),
  }),
  signup: section({
    enabled: flag(false, 'whether anybody may register', EDITABLE),
    limit: integer(10, 'users after which registration closes; -1: no limit', { ...EDITABLE, min: -1 }),
    minimum_age: integer(16, 'age that the form names', EDITABLE),
    requires_approval: flag(true, 'whether moderators decide on registrations', EDITABLE),
    requires_email_verification: flag(false, 'whether addresses are verified', EDITABLE),
    filters: section({
      cidr: section({
        whitelist: texts([], 'subnets that may register; none: all'),
        blacklist: texts([], 'subnets that may not'),
      }),
    }),
  }),
  user: section({
    history: section({ videos: section({ enabled: flag(true, 'whether new users have a watch history', EDITABLE) }) }),
    video_quota: limitedSize(-1, 'bytes of video of a new user', EDITABLE),
    video_quota_daily: limitedSize(-1, 'bytes of video of a new user in 24 hours', EDITABLE),
    default_channel_name: text('Main $1 channel', 'name of the first channel; $1 is the user', EDITABLE),
  }),
  video_channels: section({ max_per_user: integer(20, 'channels of one user', { ...EDITABLE, min: 1 }) }),
  auto_blacklist: section({
    videos: section({
      of_users: section({ enabled: flag(false, 'whether new videos wait for a moderator', EDITABLE) }),
    }),
  }),
  defaults: section({
    publish: section({
      download_enabled: flag(true, 'whether new videos can be downloaded'),
      comments_policy: integer(1, '1 everybody, 2 nobody, 3 after approval', { min: 1, max: 3 }),
      privacy: integer(1, '1 public, 2 unlisted, 3 private, 4 internal; videos without a privacy are private until this is set', {
        min: 1,
        max: 4,
      }),
      licence: optionalInteger(null, 'number of the licence', { min: 1 }),
    }),
    p2p: section({
      webapp: section({ enabled: flag(true, 'whether pages play peer-to-peer') }),
      embed: section({ enabled: flag(true, 'whether embeds play peer-to-peer') }),
    }),
    player: section({ auto_play: flag(true, 'whether videos start by themselves') }),
  }),
  trending: section({
    videos: section({
      interval_days: integer(7, 'days that most-viewed looks back', { min: 1 }),
      algorithms: section({
        enabled: texts(['hot', 'most-viewed', 'most-liked'], 'hot, most-viewed, most-liked, best', EDITABLE),
        default: text('most-viewed', 'the one shown first', EDITABLE),
      }),
    }),
  }),
  feeds: section({
    videos: section({ count: integer(20, 'videos in a feed') }),
    comments: section({ count: integer(20, 'comments in a feed') }),
  }),
  search: section({
    remote_uri: section({
      users: flag(true, 'whether users may look up remote videos and channels by address', EDITABLE),
      anonymous: flag(false, 'whether visitors may', EDITABLE),
    }),
    search_index: section({
      enabled: flag(false, 'whether a search index is used', EDITABLE),
      url: text('', 'its address', EDITABLE),
      disable_local_search: flag(false, 'whether it replaces the own search', EDITABLE),
      is_default_search: flag(false, 'whether it is the default', EDITABLE),
    }),
  }),
  stats: section({
    registration_requests: enabledStat('registrations'),
    abuses: enabledStat('reports'),
    total_moderators: enabledStat('moderators'),
    total_admins: enabledStat('administrators'),
  }),
  services: section({
    twitter: section({ username: text('', 'account named in cards for Twitter/X', EDITABLE) }),
  }),
  theme: section({ default: text('default', 'theme of visitors', EDITABLE) }),
  client: section({
    videos: section({
      miniature: section({
        prefer_author_display_name: flag(false, 'whether lists show display names', EDITABLE),
        display_author_avatar: flag(false, 'whether lists show avatars'),
      }),
      resumable_upload: section({
        max_chunk_size: optionalSize(null, 'largest chunk that the web client sends; null: by speed'),
      }),
    }),
    menu: section({
      login: section({
        redirect_on_single_external_auth: flag(false, 'whether the only outside login is opened at once', EDITABLE),
      }),
    }),
    open_in_app: section({
      android: section({
        intent: section({
          enabled: flag(false, 'whether Android is offered to open an app'),
          host: text('', 'host of the intent'),
          scheme: text('', 'scheme of the intent'),
          fallback_url: text('', 'where to go without the app'),
        }),
      }),
      ios: section({
        enabled: flag(false, 'whether iOS is offered to open an app'),
        host: text('', 'host of the link'),
        scheme: text('', 'scheme of the link'),
        fallback_url: text('', 'where to go without the app'),
      }),
    }),
  }),
  webrtc: section({ stun_servers: texts([], 'STUN servers of players; none: peers of the same network only') }),
}
