// Removes all comments of an account: the owner of the videos does it on those, the staff everywhere.

import { type ActorDeps, DomainError, ignoreNotFound, notFound, PermanentFailure } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { hasRight, type UserRole } from '../user/index.ts'
import type { Comments } from './comment.commands.ts'
import { removeRetained } from './retained-comments.ts'

/** On the videos of the requester, or on all videos that this server knows. */
export const removalScopes = ['my-videos', 'instance'] as const
export type RemovalScope = (typeof removalScopes)[number]

const BATCH = 100

export type RemoveCommentsOf = ReturnType<typeof makeRemoveCommentsOf>

export function makeRemoveCommentsOf(deps: ActorDeps & { comments: Pick<Comments, 'remove'> }) {
  const { db, tell, registry, urls, comments } = deps

  registry.job('comments-removal', {
    queue: 'io',
    async run({ data, signal, progress }) {
      // The current rights count, not those at the time of the request. Jobs of earlier versions contain a scope.
      const owner = data.belowVideosOf ?? (data.scope === 'my-videos' ? Number(data.byAccountId) : null)
      const by = await userOf(Number(data.byAccountId))
      if (!by || (owner === null && !hasRight(by.role, 'MANAGE_ANY_VIDEO_COMMENT'))) {
        throw new PermanentFailure('The requester is no longer allowed to do this.')
      }
      const below = `from comment m join video v on v.id = m.video_id join channel c on c.id = v.channel_id
        where m.account_id = $1 and m.deleted_at is null and m.id > $2 and ($3::int is null or c.account_id = $3)`
      const [all] = await db.query<{ n: number }>(`select count(*)::int as n ${below}`, [data.accountId, 0, owner])
      let done = 0
      for (let last = 0; ; ) {
        // Retained comments could return after this walk.
        for (let kept = owner === null ? 1 : 0; kept > 0; ) {
          signal.throwIfAborted()
          kept = await removeRetained(tell, { accountId: Number(data.accountId) })
        }
        const found = await db.query<{ id: number }>(`select m.id ${below} order by m.id limit ${BATCH}`, [data.accountId, last, owner])
        if (found.length === 0) return
        for (const { id } of found) {
          signal.throwIfAborted()
          await ignoreNotFound(comments.remove(id, by))
          last = id
        }
        done += found.length
        progress(Math.min(100, (100 * done) / (all?.n || done)))
      }
    },
  })

  async function userOf(accountId: number): Promise<NonNullable<Viewer> | undefined> {
    const [user] = await db.query<{ accountId: number; role: UserRole }>(
      `select a.id as "accountId", u.role from account a join users u on u.id = a.user_id
       where a.id = $1 and u.state = 'active'`,
      [accountId],
    )
    return user
  }

  return {
    /**
     * Queues a job that removes them. `accountName` is the name of a local account, or `name@host`. Throws `not_found`, and `forbidden` for
     * the scope `instance` without the right to manage all comments.
     */
    async removeCommentsOf({ accountName, scope, by }: { accountName: string; scope: RemovalScope; by: NonNullable<Viewer> }) {
      if (scope === 'instance' && !hasRight(by.role, 'MANAGE_ANY_VIDEO_COMMENT')) {
        throw new DomainError('forbidden', 'User cannot remove any comments of this instance.')
      }
      const [name = '', host = urls.host] = accountName.split('@', 2)
      const [account] = await db.query<{ id: number }>(
        `select a.id from actor x join account a on a.actor_id = x.id left join remote_host h on h.id = x.host_id
         where lower(x.preferred_username) = lower($1) and x.deleted_at is null
           and case when $2 = $3 then x.host_id is null else h.host = $2 end`,
        [name, host.toLowerCase(), urls.host],
      )
      if (!account) throw notFound('Account not found')
      await tell.create(async (unit) => {
        unit.enqueue({
          type: 'comments-removal',
          data: {
            accountId: account.id,
            byAccountId: by.accountId,
            ...(scope === 'my-videos' ? { belowVideosOf: by.accountId } : {}),
          },
        })
        const entity = { 'account-id': account.id, allOf: accountName, scope }
        unit.note({ domain: 'comments', action: 'delete', id: account.id, entity })
      })
    },
  }
}
