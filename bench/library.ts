// A large library by SQL, in seconds: channels of many servers, their videos with files and pictures, comments, follows and recent views.
// Names, tags, languages and counters are unevenly distributed, as in reality.

import { createHash } from 'node:crypto'
import { reconcileVideoTotals } from '../src/actors/video/deltas.ts'
import { bestOf, hotOf, renewScores } from '../src/actors/video/scores.ts'
import type { Sql } from '../src/platform/database/index.ts'

export interface LibrarySize {
  videos: number
  comments: number
  channels: number
}

/** Parameters of list requests. */
export interface Library {
  /** A channel with many videos. */
  accountId: number
  channelId: number
  /** A local channel with many videos. */
  ownerAccountId: number
  /** A local actor that follows a hundred channels. */
  followerActorId: number
  /** A user who watched one in a hundred videos. */
  watcherAccountId: number
}

/** Fills the tables of a server that was started once. In a single transaction, by a user who may set its role (see below). */
export async function seedLibrary(query: Sql, size: LibrarySize & { origin: string }): Promise<void> {
  const { videos, comments, channels, origin } = size
  // The rows are consistent, so that keys and counters need not be checked row by row.
  await query('set local session_replication_role = replica')
  await query('set local synchronous_commit = off; select setseed(0.5)')
  await query(`insert into remote_host (id, host) select n, 'peer' || n || '.example' from generate_series(${FIRST}, ${FIRST} + 199) n`)
  for (const [kind, offset] of [
    ['Person', 0],
    ['Group', 1],
  ] as const) {
    await query(
      `insert into actor (id, type, preferred_username, host_id, url, inbox_url)
       select ${FIRST} + n * 2 + ${offset}, '${kind}', lower('${kind}') || '_' || ${word} || n, h.id,
         coalesce('https://' || h.host, $1) || '/${kind}/' || n, coalesce('https://' || h.host, $1) || '/${kind}/' || n || '/inbox'
       from generate_series(1, $2::int) n left join remote_host h on n % 10 <> 0 and h.id = ${FIRST} + n % 200`,
      [origin, channels],
    )
  }
  // This server follows all others; otherwise it takes their videos off its lists.
  await query(
    `insert into actor (id, type, preferred_username, host_id, url, inbox_url)
     select id + ${FIRST}, 'Application', 'peertube', id, 'https://' || host || '/accounts/peertube', 'https://' || host || '/inbox'
     from remote_host where id >= ${FIRST}`,
  )
  await query(
    `insert into follow (follower_id, target_id, state) select f.id, t.id, 'accepted' from actor f join actor t on t.id >= ${FIRST} * 2
     where f.host_id is null and f.type = 'Application'`,
  )
  await query(
    `insert into account (id, actor_id, name) select ${FIRST} + n, ${FIRST} + n * 2, ${phrase(2)} from generate_series(1, $1::int) n`,
    [channels],
  )
  await query(
    `insert into channel (id, actor_id, account_id, name)
     select ${FIRST} + n, ${FIRST} + n * 2 + 1, ${FIRST} + n, ${phrase(2)} from generate_series(1, $1::int) n`,
    [channels],
  )
  await query(
    `insert into channel_search (id, actor_id, account_id, host_id, name, preferred_username)
     select c.id, x.id, c.account_id, x.host_id, c.name, x.preferred_username
     from channel c join actor x on x.id = c.actor_id where c.id > ${FIRST}`,
  )
  await query(
    `insert into video (id, uuid, channel_id, remote, url, name, category, licence, language, privacy, nsfw, description,
       duration, state, tags, views, likes, dislikes, comments, is_live, aspect_ratio, published_at, created_at,
       originally_published_at, hot, best, words, has_hls, has_web_videos)
     select ${FIRST} + n, uuid, ${FIRST} + owner, owner % 10 <> 0, $1 || '/videos/watch/' || uuid, name,
       nullif((19 * random() ^ 2)::int, 0), nullif((8 * random())::int, 0),
       (array['en', 'en', 'en', 'fr', 'de', 'es', 'ja', null, null, 'pt', 'eo'])[1 + floor(11 * random() ^ 1.5)],
       (array[1, 2, 3, 4, 5])[1 + floor(5 * random() ^ 12)], random() < 0.04, repeat('A description of some length. ', 8),
       (3600 * random() ^ 3)::int, case when random() < 0.98 then 'published' else 'to-transcode' end,
       tags, views, likes, dislikes, comments,
       random() < 0.005, 1.7778, at, at, case when random() < 0.2 then at - interval '1 year' * random() end,
       ${hotOf(COUNTED)}, ${bestOf(COUNTED)}, video_words(name, tags), n % 10 <> 0, n % 10 = 0
     from (select n, ${phrase(4)} as name, array[${word}, ${word}, 'tag' || (500 * random())::int] as tags,
         gen_random_uuid() as uuid,
         1 + floor($3::int * random() ^ 2)::int as owner, now() - interval '3 years' * random() as at, (100 / (random() + 0.001))::int as views,
         (10 / (random() + 0.01))::int as likes, (1 / (random() + 0.01))::int as dislikes, (5 * random())::int as comments
       from generate_series(1, $2::int) n) made`,
    [origin, videos, channels],
  )
  await query(
    `insert into video_tag (id, tag, published_at, privacy, nsfw, channel_id)
     select distinct id, tag, published_at, privacy, nsfw, channel_id from video cross join unnest(lower_tags(tags)) tag
     where id > ${FIRST} and privacy in (1, 4) and state = 'published' and listed and not blocked`,
  )
  await seedParts(query)
  await query(
    `insert into video_automatic_tag (video_id, name)
     select v.id, t.name from video v join (values ('watched', 100), ('external-link', 3)) t (name, every) on v.id % t.every = 0
     where v.id > ${FIRST}`,
  )
  await withoutIndexes(query, 'comment', () =>
    query(
      `insert into comment (video_id, account_id, url, text, created_at)
       select ${FIRST} + 1 + floor($2::int * random() ^ 2)::int, ${FIRST} + 1 + floor($3::int * random())::int,
         $4 || '/comments/bench-' || n, 'A comment with some words.', now() - interval '3 years' * random()
       from generate_series(1, $1::int) n`,
      [comments, videos, channels, origin],
    ),
  )
  await query(
    `insert into follow (follower_id, target_id, state)
     select ${FIRST} + 20, id * 2 - ${FIRST} + 1, 'accepted' from channel where id > ${FIRST} order by random() limit 100`,
  )
  await query(
    `insert into video_day_views (video_id, day, views)
     select id, (now() at time zone 'utc')::date - (6 * random())::int, 1 + (20 * random() ^ 4)::int
     from video where id > ${FIRST} and random() < 0.2`,
  )
  await query(
    `insert into history (account_id, video_id, seconds, watched_at)
     select ${FIRST} + 10, id, 10, now() - interval '1 year' * random() from video where id > ${FIRST} and random() < 0.01`,
  )
  await query('update comment_total set total = case when held then 0 else $1::int end', [comments])
  await reconcileVideoTotals({ query })
}

/** Computes the scores of all videos, and analyzes the tables. Outside of any transaction. */
export async function settleLibrary(query: Sql): Promise<void> {
  await renewScores({ query }, { days: 7, limit: 10_000_000 })
  await query('vacuum analyze')
}

export async function findInLibrary(query: Sql): Promise<Library> {
  const largest = async (which: string) => {
    const [found] = await query<{ channelId: number; accountId: number }>(
      `select channel_id as "channelId", c.account_id as "accountId" from video v join channel c on c.id = v.channel_id
       where v.id > ${FIRST} and ${which} group by 1, 2 order by count(*) desc, 1 limit 1`,
    )
    if (!found) throw new Error('The library is empty.')
    return found
  }
  const { accountId: ownerAccountId } = await largest('not v.remote')
  return { ...(await largest('true')), ownerAccountId, followerActorId: FIRST + 20, watcherAccountId: FIRST + 10 }
}

/** Ids of this library are above those of any other rows. */
const FIRST = 1_000_000
const COUNTED = {
  likes: 'likes',
  dislikes: 'dislikes',
  comments: 'comments',
  views: 'views',
  publishedAt: 'at',
}
const WORDS = 5000
const DIGITS = '0123456789'
const LETTERS = 'ghijklmnop'
/** SQL: an invented word, with uneven frequencies. */
const word = `translate(left(md5(floor(${WORDS} * random() ^ 2)::int::text), 7), '${DIGITS}', '${LETTERS}')`

/** A word of the library: 0 is in every twelfth name, the last one in a few of ten thousand. */
export const wordOf = (number: number): string =>
  createHash('md5')
    .update(String(number))
    .digest('hex')
    .slice(0, 7)
    .replaceAll(/\d/g, (digit) => LETTERS[Number(digit)] ?? '')

/** One of the servers of the library. */
export const hostOf = (number: number): string => `peer${FIRST + number}.example`

const phrase = (words: number): string => Array.from({ length: words }, () => word).join(" || ' ' || ")

/** Ten million rows take minutes without the indexes, which are created afterwards, and more than an hour with them. */
async function withoutIndexes(query: Sql, table: string, insert: () => Promise<unknown>): Promise<void> {
  const indexes = await query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index i
     where indrelid = $1::regclass and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
    [table],
  )
  for (const { name } of indexes) await query(`drop index ${name}`)
  await insert()
  await query("set local maintenance_work_mem = '512MB'")
  for (const { definition } of indexes) await query(definition)
}

/** Pictures of all videos; an HLS playlist with two renditions for most, a web video for the others. */
async function seedParts(query: Sql): Promise<void> {
  await query(
    `insert into thumbnail (video_id, type, filename, width, height)
     select v.id, t.type, v.id || '-' || t.type || '.jpg', t.width, t.height
     from video v, (values (1, 280, 157), (2, 850, 480)) as t(type, width, height) where v.id > ${FIRST}`,
  )
  await query(
    `insert into streaming_playlist (video_id, playlist_filename, segments_sha256_filename)
     select id, id || '-master.m3u8', id || '-segments-sha256.json' from video where id > ${FIRST} and id % 10 <> 0`,
  )
  await query(
    `insert into video_file (video_id, streaming_playlist_id, resolution, width, height, size, extname, fps, filename,
       playlist_filename, metadata, format_flags)
     select p.video_id, p.id, height, height * 16 / 9, height, height * 50000 + p.video_id, '.mp4', 30,
       p.video_id || '-' || height || '-fragmented.mp4', p.video_id || '-' || height || '.m3u8', '{}', 2
     from streaming_playlist p, unnest(array[1080, 480]) as height where p.video_id > ${FIRST}`,
  )
  await query(
    `insert into video_file (video_id, resolution, width, height, size, extname, fps, filename, metadata, format_flags)
     select id, 720, 1280, 720, 20000000 + id, '.mp4', 30, id || '-720.mp4', '{}', 1
     from video where id > ${FIRST} and id % 10 = 0`,
  )
}
