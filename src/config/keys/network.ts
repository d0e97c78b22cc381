// Keys of the federation and of visitors' activity: follows, redundancy, tracker, views, history, plugins.

import { choice, duration, EDITABLE, flag, limitedDuration, optionalDuration, records, section, text } from '../kinds.ts'
import { redundancyStrategy } from './items.ts'

export const networkKeys = {
  federation: section({
    enabled: flag(true, 'whether this server speaks ActivityPub'),
    prevent_ssrf: flag(true, 'kept for compatibility; see `vireo.federation.allow_private_addresses`'),
    sign_federated_fetches: flag(true, 'whether documents are requested with a signature'),
    videos: section({
      federate_unlisted: flag(false, 'whether unlisted videos are sent to followers'),
      cleanup_remote_interactions: flag(true, 'whether deleted likes, comments and shares are removed weekly'),
    }),
  }),
  followers: section({
    instance: section({
      enabled: flag(true, 'whether other servers may follow', EDITABLE),
      manual_approval: flag(false, 'whether an administrator decides on each', EDITABLE),
    }),
  }),
  followings: section({
    instance: section({
      auto_follow_back: section({ enabled: flag(false, 'whether followers are followed back', EDITABLE) }),
      auto_follow_index: section({
        enabled: flag(false, 'whether servers of an index are followed', EDITABLE),
        index_url: text('', 'address of the index', EDITABLE),
      }),
    }),
  }),
  redundancy: section({
    videos: section({
      check_interval: duration('1 hour', 'how often videos to mirror are chosen'),
      strategies: records(
        redundancyStrategy,
        'a list of { strategy: most-views | trending | recently-added, size, min_lifetime, min_views }',
        [],
        "which of other servers' videos are mirrored",
      ),
    }),
  }),
  remote_redundancy: section({
    videos: section({
      accept_from: choice('anybody', ['anybody', 'followings', 'nobody'], 'servers whose mirrors of local videos are used'),
    }),
  }),
  tracker: section({
    enabled: flag(true, 'whether the tracker runs; without it players do not find each other'),
    private: flag(true, 'whether it knows videos of this server only'),
    reject_too_many_announces: flag(false, 'whether peers that announce too often are blocked'),
  }),
  views: section({
    videos: section({
      remote: section({ max_age: limitedDuration('30 days', 'how long views of remote videos are stored') }),
      local_buffer_update_interval: duration('30 minutes', 'how often new views are counted and reported'),
      view_expiration: duration('1 hour', 'time after which the same viewer counts again'),
      count_view_after: duration('10 seconds', 'watched time that makes a view'),
      trust_viewer_session_id: flag(true, "whether viewers are distinguished by the player's session id, not the address"),
      watching_interval: section({
        anonymous: optionalDuration('5 seconds', "how often visitors' players report; null: never"),
        users: optionalDuration('5 seconds', "how often users' players report; null: never"),
      }),
    }),
  }),
  history: section({
    videos: section({ max_age: limitedDuration(-1, 'how long the history of users is stored') }),
  }),
  geo_ip: section({
    enabled: flag(true, 'whether views are counted by country'),
    country: section({
      database_url: text('https://dbip.mirror.framasoft.org/files/dbip-country-lite-latest.mmdb', 'database of countries'),
    }),
    city: section({
      database_url: text('https://dbip.mirror.framasoft.org/files/dbip-city-lite-latest.mmdb', 'database of cities'),
    }),
  }),
  plugins: section({
    enabled: flag(false, 'whether plugins and themes can be installed, and run'),
    index: section({
      enabled: flag(true, 'whether a plugin index is used'),
      url: text('https://packages.joinpeertube.org', 'address of the index'),
      check_latest_versions_interval: duration('4 hours', 'how often new versions are looked for'),
    }),
  }),
}
