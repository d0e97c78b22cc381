// Pages for search engines: local accounts and channels, and public videos. Read in parts, by index.

import type { Aliased, Database } from '../../platform/database/index.ts'
import { LISTED_PRIVACIES, type Video, videoPrivacies } from '../video/video.entity.ts'

export type ListedPage = { kind: 'account' | 'channel'; name: string; changedAt: Date } | { kind: 'video'; uuid: string; changedAt: Date }

interface ListedVideo extends Aliased<Video, 'id' | 'uuid' | 'publishedAt'> {
  changedAt: Date
}

interface ListedActor {
  id: number
  userId: number
  name: string
  changedAt: Date
}

/** Rows per statement. */
const PART = 1000

/** Each page once, in no particular order. At most some thousand rows are in memory. */
export async function* listPages(db: Pick<Database, 'query'>, { nsfw }: { nsfw: boolean }): AsyncGenerator<ListedPage, void, undefined> {
  for await (const accounts of parts((last: ListedActor | undefined) => listAccounts(db, last?.userId ?? 0))) {
    for (const { name, changedAt } of accounts) yield { kind: 'account', name, changedAt }
    const channels = await listChannels(
      db,
      accounts.map(({ id }) => id),
    )
    for (const { name, changedAt } of channels) yield { kind: 'channel', name, changedAt }
  }
  for await (const videos of parts((last: ListedVideo | undefined) => listVideos(db, nsfw, last))) {
    for (const { uuid, changedAt } of videos) yield { kind: 'video', uuid, changedAt }
  }
}

/** Calls `read` with the last row of the previous part, until it returns none. */
async function* parts<Row>(read: (last: Row | undefined) => Promise<Row[]>): AsyncGenerator<Row[], void, undefined> {
  let rows = await read(undefined)
  while (rows.length > 0) {
    yield rows
    rows = rows.length < PART ? [] : await read(rows.at(-1))
  }
}

/** Only local accounts have a user. */
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

/**
 * The index of listed local videos contains internal ones too. The first part starts at infinity, so that one plan serves all parts and
 * continues in the index where the last one ended.
 */
const listVideos = (db: Pick<Database, 'query'>, nsfw: boolean, last: ListedVideo | undefined) =>
  db.query<ListedVideo>(
    `select v.id, v.uuid, v.published_at as "publishedAt", v.updated_at as "changedAt"
     from video v
     where v.privacy in ${LISTED_PRIVACIES} and v.state = 'published' and not v.remote and v.privacy = ${videoPrivacies.public} and not v.blocked
       and ($1 or not v.nsfw) and (v.published_at, v.id) < ($2::timestamptz, $3)
     order by v.published_at desc, v.id desc limit ${PART}`,
    [nsfw, last?.publishedAt ?? 'infinity', last?.id ?? 0],
  )
