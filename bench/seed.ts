// Inserts many videos by SQL: published, public, each with pictures, an HLS playlist and three renditions.

import pg from 'pg'

export interface Seeded {
  /** Of one of the videos. */
  uuid: string
}

/** Fills the database of a server that was started once. The rows are those that the server itself would write, with matching counters. */
export async function seedVideos(options: { databaseUrl: string; origin: string; count: number }): Promise<Seeded> {
  const { databaseUrl, origin, count } = options
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('begin')
    await client.query(
      `insert into video (uuid, channel_id, url, name, category, licence, language, privacy, description, duration, state,
         tags, views, aspect_ratio, published_at)
       select uuid, (select min(id) from channel), $1 || '/videos/watch/' || uuid, 'Video number ' || n, 1 + n % 18,
         1 + n % 7, (array['en', 'fr', 'de', null])[1 + n % 4], 1, repeat('A description of some length. ', 8), 60 + n % 600,
         'published', array['one', 'two', 'tag' || n % 50], n % 1000, 1.7778, now() - n * interval '1 minute'
       from (select gen_random_uuid() as uuid, n from generate_series(1, $2::integer) as n) as made`,
      [origin, count],
    )
    await client.query(
      `insert into thumbnail (video_id, type, filename, width, height)
       select v.id, t.type, gen_random_uuid() || '.jpg', t.width, t.height
       from video v, (values (1, 280, 157), (2, 850, 480)) as t(type, width, height)`,
    )
    await client.query(
      `insert into streaming_playlist (video_id, playlist_filename, segments_sha256_filename)
       select id, gen_random_uuid() || '-master.m3u8', gen_random_uuid() || '-segments-sha256.json' from video`,
    )
    await client.query(
      `insert into video_file (video_id, streaming_playlist_id, resolution, width, height, size, extname, fps, filename,
         playlist_filename, metadata, format_flags)
       select p.video_id, p.id, height, height * 16 / 9, height, height * 50000, '.mp4', 30, name || '-fragmented.mp4',
         name || '.m3u8', '{}', 2
       from streaming_playlist p, unnest(array[1080, 480, 144]) as height,
         lateral (select gen_random_uuid() || '-' || height || left('', p.id) as name) as named`,
    )
    // The server folds these in the background; here it must be done at once. Earlier checkouts only have `video_total`.
    const counts = await client.query<{ name: string }>(
      "select relname as name from pg_class where relname in ('video_total', 'video_count')",
    )
    for (const { name } of counts.rows) {
      await client.query(
        `with folded as (delete from ${name}_delta d returning to_jsonb(d) - '{id,delta}'::text[] as key, delta)
         update ${name} t set total = total + (
           select coalesce(sum(f.delta), 0) from folded f where f.key = to_jsonb(t) - 'total')`,
      )
    }
    await client.query('commit')
    // Not of the others: an empty table that was analyzed counts as empty until it is analyzed again.
    await client.query('vacuum analyze video, thumbnail, streaming_playlist, video_file')
    const { rows } = await client.query<{ uuid: string }>('select uuid from video order by id limit 1 offset $1', [Math.floor(count / 2)])
    return { uuid: rows[0]?.uuid ?? '' }
  } finally {
    await client.end()
  }
}

/** Thirty threads on a video, every third of them with replies, by the account of the server's first user. */
export async function seedComments(options: { databaseUrl: string; origin: string; uuid: string }): Promise<void> {
  const { databaseUrl, origin, uuid } = options
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(
      `with thread as (
         insert into comment (video_id, account_id, url, text, created_at)
         select v.id, (select min(id) from account where user_id is not null), $1 || '/comments/thread-' || n,
           'A comment with some words.', now() - n * interval '1 minute'
         from video v, generate_series(1, 30) n where v.uuid = $2 returning id, video_id, account_id, created_at
       )
       insert into comment (video_id, account_id, thread_id, parent_id, url, text, created_at)
       select t.video_id, t.account_id, t.id, t.id, $1 || '/comments/reply-' || t.id || '-' || n, 'A reply.', t.created_at
       from thread t, generate_series(1, 3) n where t.id % 3 = 0`,
      [origin, uuid],
    )
    await client.query('vacuum analyze comment')
  } finally {
    await client.end()
  }
}
