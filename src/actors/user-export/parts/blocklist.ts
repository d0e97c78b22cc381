// Accounts and servers that the user muted: `blocklist`.

import type { Export } from '../export.ts'

export async function writeBlocklist({ query, user, urls, writer }: Export): Promise<void> {
  const owner = [user.account.id]
  const instances = await query<{ host: string }>('select host from server_block where owner_id = $1 order by id', owner)
  const actors = await query<{ handle: string }>(
    `select x.preferred_username || '@' || coalesce(h.host, $2) as handle
     from account_block b join account a on a.id = b.target_id join actor x on x.id = a.actor_id
       left join remote_host h on h.id = x.host_id
     where b.owner_id = $1 order by b.id`,
    [...owner, urls.host],
  )
  await writer.part('blocklist', { instances, actors })
}
