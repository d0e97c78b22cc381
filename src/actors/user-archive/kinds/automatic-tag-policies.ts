// Automatic tags whose comments the user reviews: `automatic-tag-policies`.

import { z } from 'zod'
import { definePart } from '../part.ts'

export const tagPolicies = definePart({
  name: 'automatic-tag-policies',
  list: 'reviewComments',
  item: z.object({ name: z.string() }),
  result: 'commentAutoTagPolicies',
  namedBy: 'name',

  export: ({ query, user }) =>
    query<{ name: string }>('select t.name from comment_tag_policy p, unnest(p.review) t (name) where p.account_id = $1', [
      user.account.id,
    ]),

  import:
    (deps) =>
    async ({ name }, { accountId }) =>
      (await deps.tagPolicies.addReview(accountId, name)) ? 'success' : 'duplicate',
})
