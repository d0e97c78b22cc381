// Tags whose comments the user reviews: `automatic-tag-policies`.

import type { Export } from '../export.ts'

export async function writeTagPolicies({ query, user, writer }: Export): Promise<void> {
  const rows = await query<{ name: string }>('select t.name from comment_tag_policy p, unnest(p.review) t (name) where p.account_id = $1', [
    user.account.id,
  ])
  await writer.list('automatic-tag-policies', rows)
}
