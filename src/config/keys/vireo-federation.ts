// Keys under vireo.federation: whom we talk to, how long we wait, when we give up.

import { duration, flag, integer, section, size } from '../kinds.ts'

export const federationKeys = {
  allow_http: flag(false, 'whether peers may be reached without TLS; for tests and demonstrations'),
  allow_private_addresses: flag(
    false,
    'whether peers may have loopback or private addresses; for tests and demonstrations',
  ),
  collection_page_items: integer(10, 'items in a page of our collections', { min: 1 }),
  max_comment_recursion: integer(100, 'parents of a reply that are fetched'),
  fetch: section({
    timeout: duration('7 seconds', 'longest fetch of a document'),
    file_timeout: duration('30 seconds', 'longest fetch of an image, caption or torrent'),
    video_file_timeout: duration('1 minute', 'longest silence while a video file is fetched'),
    max_redirects: integer(5, 'redirects that are followed'),
    max_document_size: size('1MB', 'largest document'),
  }),
  inbox: section({
    max_body_size: size('1MB', 'largest activity'),
    clock_skew: duration('30 minutes', 'how far the date of a signature may be off'),
    unverified_per_host: integer(100, 'activities with unknown keys that wait, for each host'),
    unverified_in_all: integer(5000, 'activities with unknown keys that wait, of all hosts'),
    unverified_per_address: integer(600, 'activities with unknown keys that are taken from one address in a minute'),
    key_fetches_at_once: integer(10, 'unknown keys that one process fetches at once', { min: 1 }),
    key_refetch_after: duration('1 minute', 'age at which a cached key that fails is fetched again'),
    attempts: integer(5, 'tries of an activity', { min: 1 }),
    initial_backoff: duration('1 minute', 'wait after the first failed try; it doubles'),
    max_backoff: duration('1 hour', 'longest wait'),
    keep_ids: duration('90 days', 'how long ids of handled activities are remembered'),
  }),
  delivery: section({
    timeout: duration('10 seconds', 'longest delivery of one activity'),
    initial_backoff: duration('1 minute', 'wait after the first failure of a host; it doubles'),
    max_backoff: duration('12 hours', 'longest wait, also when the host asks for more'),
    give_up_after: duration('7 days', 'failing time after which a host is dormant'),
    drop_after: duration('30 days', 'age at which waiting activities are dropped'),
    hosts_in_flight: integer(30, 'hosts that are delivered to at once by one process', { min: 1 }),
    slow_hosts_in_flight: integer(1000, 'hosts that are slow to answer, which one process awaits besides'),
    actors_in_flight_per_host: integer(4, 'actors whose activities go to one host at once', { min: 1 }),
    missing_inbox_strikes: integer(3, 'answers 404 after which an inbox is dropped', { min: 1 }),
  }),
  follow: section({
    retry_for: duration('7 days', 'how long a follow without answer is asked again'),
    initial_backoff: duration('1 minute', 'wait before the second request; it doubles'),
    max_backoff: duration('12 hours', 'longest wait'),
    probe_timeout: duration('2 seconds', 'longest test whether a new host speaks TLS'),
  }),
  follow_score: section({
    base: integer(1000, 'score of a new follow'),
    max: integer(10_000, 'best score'),
    bonus: integer(10, 'for a good delivery'),
    penalty: integer(-10, 'for a failed delivery', { min: Number.MIN_SAFE_INTEGER, max: 0 }),
  }),
  backfill: section({
    max_pages: integer(2000, 'pages of a collection that are read'),
    max_items: integer(20_000, 'items of a collection that are read'),
  }),
  refresh: section({
    actor: duration('2 days', 'age at which a remote actor is fetched again'),
    video: duration('2 days', 'age at which a remote video is fetched again'),
    playlist: duration('2 days', 'age at which a remote playlist is fetched again'),
  }),
}
