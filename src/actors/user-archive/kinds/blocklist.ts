// Servers and accounts that the user blocks: `blocklist`. All are one item, whose import fails only if none of them can be blocked.

import { z } from 'zod'
import { normalHost } from '../../blocklist/index.ts'
import { DomainError } from '../../runtime/index.ts'
import type { ImportContext, ItemOutcome } from '../import-context.ts'
import type { ImportDeps } from '../import-deps.ts'
import { isForNow, reasonOf } from '../import-errors.ts'
import { readHandle } from '../import-fields.ts'
import { definePart, listOf } from '../part.ts'

export const blocklist = definePart({
  name: 'blocklist',
  list: null,
  item: z.object({
    instances: listOf(z.object({ host: z.string() })).default([]),
    actors: listOf(z.object({ handle: z.string() })).default([]),
  }),
  result: 'blocklist',

  async export({ query, user, urls }) {
    const owner = [user.account.id]
    const instances = await query<{ host: string }>('select host from server_block where owner_id = $1 order by id', owner)
    const actors = await query<{ handle: string }>(
      `select x.preferred_username || '@' || coalesce(h.host, $2) as handle
       from account_block b join account a on a.id = b.target_id join actor x on x.id = a.actor_id
         left join remote_host h on h.id = x.host_id
       where b.owner_id = $1 order by b.id`,
      [...owner, urls.host],
    )
    return [{ instances, actors }]
  },

  import:
    (deps) =>
    async ({ instances, actors }, context) => {
      const outcomes: ItemOutcome[] = []
      const each = async (work: () => Promise<ItemOutcome>): Promise<void> => {
        context.signal.throwIfAborted()
        try {
          outcomes.push(await work())
        } catch (error) {
          if (!(error instanceof DomainError) || isForNow(error)) throw error
          outcomes.push({ error: reasonOf(error) ?? 'invalid' })
        }
      }
      for (const { host } of instances) await each(() => blockServer(deps, host, context))
      for (const { handle } of actors) await each(() => blockAccount(deps, handle, context))
      const brought = (['success', 'duplicate'] as const).find((outcome) => outcomes.includes(outcome))
      return brought ?? outcomes[0] ?? 'duplicate'
    },
})

async function blockServer({ blocklist, isHost, urls }: ImportDeps, name: string, { accountId }: ImportContext): Promise<ItemOutcome> {
  const host = normalHost(name)
  if (host === undefined || !isHost(host) || host === urls.host) return { error: 'invalid' }
  return (await blocklist.blockServer({ ownerId: accountId, host })) ? 'success' : 'duplicate'
}

async function blockAccount(deps: ImportDeps, text: string, context: ImportContext): Promise<ItemOutcome> {
  const handle = readHandle(text, deps)
  if (!handle) return { error: 'invalid' }
  const targetId = await deps.references.account(handle, context)
  const { accountId: ownerId } = context
  if (targetId === ownerId) return { error: 'invalid' }
  return (await deps.blocklist.blockAccount({ ownerId, targetId })) ? 'success' : 'duplicate'
}
