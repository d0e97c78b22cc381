// Lists of videos: columns to sort by that a job renews, and an index for each order and filter.

import { Migration } from '@mikro-orm/migrations'
import { concurrently } from './concurrently.ts'

export class Lists extends Migration {
  /** PostgreSQL makes no index `concurrently` inside a transaction, so every statement may run twice. */
  override isTransactional(): boolean {
    return false
  }

  override up(): void {
    for (const statement of statements) this.addSql(statement)
    for (const statement of concurrently(indexes)) this.addSql(statement)
  }
}

const statements = [
  // `files_size` in bytes, of the files that lie here. Constant defaults, so that no row is written.
  `alter table video
    add column if not exists trending integer not null default 0,
    add column if not exists hot double precision not null default 0,
    add column if not exists best double precision not null default 0,
    add column if not exists files_size bigint not null default 0`,
  // What is new is hot at once: half a day (43,200 s) weighs as much as ten times the interest.
  'alter table video alter column hot set default extract(epoch from now()) / 43200',

  // The dictionaries are named, so that the answer depends on nothing else: that makes it fit for an index.
  `create or replace function video_words(name text, tags text[]) returns tsvector language sql immutable parallel safe
    as $$ select to_tsvector('simple'::regconfig,
      public.unaccent('public.unaccent'::regdictionary, name || ' ' || array_to_string(tags, ' '))) $$`,
]

/** What the lists of everybody show; users of this server also see internal videos (privacy 4). */
const LISTED = "privacy in (1, 4) and state = 'published'"

const orders = {
  published_at: 'published_at desc, id desc',
  created_at: 'created_at desc, id desc',
  originally_published_at: 'originally_published_at desc nulls last, id desc',
  views: 'views desc, id',
  likes: 'likes desc, id',
  name: 'name desc, id desc',
  // Of equals among the most, the oldest comes first; of those scored alike, the newest.
  duration: 'duration desc, id',
  trending: 'trending desc, views desc, id',
  hot: 'hot desc, id desc',
  best: 'best desc, id desc',
  files_size: 'files_size desc, id',
}
const KNOWN = ['published_at', 'created_at', 'name']

const indexes = {
  ...Object.fromEntries(
    Object.entries(orders)
      .filter(([name]) => !KNOWN.includes(name))
      .map(([name, order]) => [`video_listed_${name}`, `video (${order}) where ${LISTED}`]),
  ),
  // Of those liked least, too, the oldest comes first.
  video_listed_likes_up: `video (likes, id) where ${LISTED}`,
  // Undated videos come last in both directions.
  video_listed_originally_published_at_up: `video (originally_published_at, id) where ${LISTED}`,
  // What is rare among the listed is found by its value, not by going through the order.
  video_listed_category: `video (category, published_at desc, id desc) where ${LISTED}`,
  video_listed_language: `video (language, published_at desc, id desc) where ${LISTED}`,
  video_listed_local: `video (published_at desc, id desc) where ${LISTED} and not remote`,
  video_listed_live: `video (published_at desc, id desc) where ${LISTED} and is_live`,
  video_listed_nsfw: `video (published_at desc, id desc) where ${LISTED} and nsfw`,
}
