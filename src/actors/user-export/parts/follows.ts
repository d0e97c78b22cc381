// Follows of the account, and followers of it and its channels: `following` in both folders, `follower`.

import type { PartItem } from '../../user-archive/index.ts'
import type { Export } from '../export.ts'
import { iso, rowsOf, upTo } from '../rows.ts'

interface FollowRow {
  key: number
  handle: string
  targetHandle: string
  targetUrl: string
  createdAt: Date
}

const handle = (actor: string, host: string): string => `${actor}.preferred_username || '@' || coalesce(${host}.host, $4)`

/** Accepted follows, found by one end and keyed by the next column of that end's index. */
const follows = (end: 'follower_id' | 'target_id', key: 'target_id' | 'id'): string =>
  `select f.${key} as key, ${handle('x', 'xh')} as handle, ${handle('t', 'th')} as "targetHandle", t.url as "targetUrl",
     f.created_at as "createdAt"
   from follow f join actor x on x.id = f.follower_id join actor t on t.id = f.target_id
     left join remote_host xh on xh.id = x.host_id left join remote_host th on th.id = t.host_id
   where f.${end} = $3 and f.state = 'accepted' and f.${key} > $1 ${key === 'target_id' ? 'and t.id > $1' : ''}
     and x.deleted_at is null and t.deleted_at is null order by f.${key} limit $2`

const FOLLOWING = follows('follower_id', 'target_id')
const FOLLOWERS = follows('target_id', 'id')

export async function writeFollows(of: Export): Promise<void> {
  const { writer, documents, user, urls } = of
  const following = () => upTo(of, rowsOf<FollowRow>(of, FOLLOWING, [user.account.actorId, urls.host]))
  await writer.list('follower', items(upTo(of, followers(of))))
  await writer.list('following', items(following()))
  const frame = documents.collection('following.json', 'addresses')
  await writer.collection('following', frame, addresses(following()))
}

async function* followers(of: Export): AsyncGenerator<FollowRow> {
  for (const { actorId } of [of.user.account, ...of.user.channels]) {
    yield* rowsOf<FollowRow>(of, FOLLOWERS, [actorId, of.urls.host])
  }
}

async function* items(rows: AsyncIterable<FollowRow>): AsyncGenerator<PartItem<'following'>> {
  for await (const { handle, targetHandle, createdAt } of rows) yield { handle, targetHandle, createdAt: iso(createdAt) }
}

async function* addresses(rows: AsyncIterable<FollowRow>): AsyncGenerator<string> {
  for await (const { targetUrl } of rows) yield targetUrl
}
