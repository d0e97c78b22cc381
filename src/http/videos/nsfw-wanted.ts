// Whether sensitive videos belong in a list: by the query, else by the user, else by the server.

import { nsfwPolicyOf } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { ListQuery } from './list.ts'

/** Whether only sensitive videos are wanted, or none of them; undefined for all. */
export type NsfwWanted = (query: Pick<ListQuery, 'nsfw'>, userId: number | undefined) => Promise<boolean | undefined>

export function makeNsfwWanted({ db, config }: { db: Database; config: () => Config }): NsfwWanted {
  return async (query, userId) => {
    if (query.nsfw !== undefined) return query.nsfw === 'both' ? undefined : query.nsfw
    const own = userId === undefined ? undefined : await nsfwPolicyOf(db, userId)
    return (own ?? config().instance.default_nsfw_policy) === 'do_not_list' ? false : undefined
  }
}
