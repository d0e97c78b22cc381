// What search engines are told of: our accounts and channels, and the videos that everybody may find. Read in parts, by index.

import type { Database } from '../../platform/database/index.ts'

export type ListedPage =
  | { kind: 'account' | 'channel'; name: string; changedAt: Date }
  | { kind: 'video'; video: ListedVideo }

export interface ListedVideo {
  id: number
  uuid: string
  name: string
  description: string | null
  /** Seconds. */
  duration: number
  nsfw: boolean
  isLive: boolean
  tags: string[]
  publishedAt: Date
  changedAt: Date
  preview: string | null
}

interface ListedActor {
  id: number
  userId: number
  name: string
  changedAt: Date
}

/** Rows of one statement. */
const PART = 1000

/** Each of them once, in no order that means anything. At most some thousand rows are held. */
export async function* listPages(
  db: Pick<Database, 'query'>,
  { nsfw }: { nsfw: boolean },
): AsyncGenerator<ListedPage, void, undefined> {
  for await (const accounts of parts((last: ListedActor | undefined) => listAccounts(db, last?.userId ?? 0))) {
    for (const { name, changedAt } of accounts) yield { kind: 'account', name, changedAt }
    const channels = await listChannels(
      db,
      accounts.map(({ id }) => id),
    )
    for (const { name, changedAt } of channels) yield { kind: 'channel', name, changedAt }
  }
  for await (const videos of parts((last: ListedVideo | undefined) => listVideos(db, nsfw, last))) {
    for (const video of videos) yield { kind: 'video', video }
  }
}

/** Calls `read` with the last row that it gave, until it gives no more. */
async function* parts<Row>(read: (last: Row | undefined) => Promise<Row[]>): AsyncGenerator<Row[], void, undefined> {
  let rows = await read(undefined)
  while (rows.length > 0) {
    yield rows
    rows = rows.length < PART ? [] : await read(rows.at(-1))
  }
}

/** Only accounts of ours have a user. */
const listAccounts = (db: Pick<Database, 'query'>, afterUser: number): Promise<ListedActor[]> =>
  db.query<ListedActor>(
    `select a.id, a.user_id as "userId", x.preferred_username as name, a.updated_at as "changedAt"
     from account a join actor x on x.id = a.actor_id
     where a.user_id > $1 and x.deleted_at is null order by a.user_id limit ${PART}`,
    [afterUser],
  )

const listChannels = (db: Pick<Database, 'query'>, accountIds: number[]) =>
  db.query<{ name: string; changedAt: Date }>(
    `select x.preferred_username as name, c.updated_at as "changedAt"
     from channel c join actor x on x.id = c.actor_id
     where c.account_id = any($1) and c.state = 'active' and x.deleted_at is null`,
    [accountIds],
  )

/** The index of local listed videos has the internal ones too. */
const listVideos = (db: Pick<Database, 'query'>, nsfw: boolean, last: ListedVideo | undefined) =>
  db.query<ListedVideo>(
    `select v.id, v.uuid, v.name, left(v.description, 1000) as description, v.duration, v.nsfw, v.is_live as "isLive", v.tags,
       v.published_at as "publishedAt", v.updated_at as "changedAt",
       (select t.filename from thumbnail t where t.video_id = v.id and t.type = 2) as preview
     from video v
     where v.privacy in (1, 4) and v.state = 'published' and not v.remote and v.privacy = 1 and not v.blocked
       and ($1 or not v.nsfw) and ($2::timestamptz is null or (v.published_at, v.id) < ($2, $3))
     order by v.published_at desc, v.id desc limit ${PART}`,
    [nsfw, last?.publishedAt ?? null, last?.id ?? null],
  )
