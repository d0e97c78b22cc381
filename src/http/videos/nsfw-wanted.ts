// Whether sensitive videos belong in a list: by the query, else by the user, else by the server.

import type { Config } from '../../config/index.ts'
import type { ListQuery } from './list.ts'

/**
 * Whether only sensitive videos are wanted, or none of them; undefined for all. `own` is the policy of the user, undefined for
 * visitors.
 */
export type NsfwWanted = (query: Pick<ListQuery, 'nsfw'>, own: string | undefined) => boolean | undefined

export const makeNsfwWanted =
  ({ config }: { config: () => Config }): NsfwWanted =>
  (query, own) => {
    if (query.nsfw !== undefined) return query.nsfw === 'both' ? undefined : query.nsfw
    return (own ?? config().instance.default_nsfw_policy) === 'do_not_list' ? false : undefined
  }
