// Followers of the account and its channels: `follower`. Follows of the account: `following` in both folders, which are requested again,
// from local and remote channels.

import { z } from 'zod'
import { blockedHosts } from '../../blocklist/index.ts'
import { findChannelByHandle } from '../../channel/index.ts'
import type { Export } from '../export.ts'
import { readHandle } from '../import-fields.ts'
import { date, definePart } from '../part.ts'
import { iso, mapped, rowsOf, upTo } from '../rows.ts'

const followed = z.object({ handle: z.string(), targetHandle: z.string(), createdAt: date })

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

const toItem = (row: FollowRow) => ({ handle: row.handle, targetHandle: row.targetHandle, createdAt: iso(row.createdAt) })

export const followers = definePart({
  name: 'follower',
  list: 'followers',
  item: followed,
  result: null,
  export: (of) => mapped(upTo(of, followerRows(of)), toItem),
})

async function* followerRows(of: Export): AsyncGenerator<FollowRow> {
  for (const { actorId } of [of.user.account, ...of.user.channels]) {
    yield* rowsOf<FollowRow>(of, FOLLOWERS, [actorId, of.urls.host])
  }
}

export const following = definePart({
  name: 'following',
  list: 'following',
  item: followed,
  result: 'following',
  namedBy: 'targetHandle',
  bound: refuseTooMany,

  async export(of) {
    const rows = () => upTo(of, rowsOf<FollowRow>(of, FOLLOWING, [of.user.account.actorId, of.urls.host]))
    const frame = of.documents.collection('following.json', 'addresses')
    await of.writer.collection(
      'following',
      frame,
      mapped(rows(), ({ targetUrl }) => targetUrl),
    )
    return mapped(rows(), toItem)
  },

  import: (deps) => {
    const { db, subscriptions, urls } = deps
    return async ({ targetHandle }, { accountId }) => {
      const target = readHandle(targetHandle, deps)
      if (!target) return { error: 'invalid' }
      const isLocal = target.host === urls.host
      const channel = { name: target.name, host: isLocal ? null : target.host }
      // The follow would wait forever without anybody noticing.
      if (isLocal && !(await findChannelByHandle(db, channel))) return { error: 'not_found' }
      if (!isLocal && (await blockedHosts(db.query, [target.host])).includes(true)) return { error: 'forbidden' }
      const [isKnown] = await subscriptions.exist(accountId, [channel])
      if (isKnown) return 'duplicate'
      await subscriptions.subscribe(accountId, channel)
      return 'success'
    }
  },
})

/** Channels that an archive may follow per remote server, and in all. Each is looked up on its server, for days if necessary. */
const MAX_FOLLOWED_OF_HOST = 500
const MAX_FOLLOWED = 5_000

const target = z.object({ targetHandle: z.string() })

function refuseTooMany(): (item: unknown) => boolean {
  const byHost = new Map<string, number>()
  let total = 0
  return (item) => {
    const { data } = target.safeParse(item)
    if (!data) return false
    const host = data.targetHandle.split('@').at(-1)?.toLowerCase() ?? ''
    const ofHost = (byHost.get(host) ?? 0) + 1
    byHost.set(host, ofHost)
    total += 1
    return ofHost > MAX_FOLLOWED_OF_HOST || total > MAX_FOLLOWED
  }
}
