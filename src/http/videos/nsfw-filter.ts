// Filter for sensitive videos: from the query, the user, or the server.

import type { Config } from '../../config/index.ts'
import type { ListQuery } from './list.ts'

/** True for only sensitive videos, false for none of them; undefined for all. `own` is the policy of the user, undefined for visitors. */
export type NsfwWanted = (query: Pick<ListQuery, 'nsfw'>, own: string | undefined) => boolean | undefined

export const makeNsfwFilter =
  ({ config }: { config: () => Config }): NsfwWanted =>
  (query, own) => {
    if (query.nsfw !== undefined) return query.nsfw === 'both' ? undefined : query.nsfw
    return (own ?? config().instance.default_nsfw_policy) === 'do_not_list' ? false : undefined
  }
