// Servers and accounts that the user blocks, all in one item: it fails only if none of them can be blocked.

import { normalHost } from '../../blocklist/index.ts'
import { DomainError } from '../../runtime/index.ts'
import { reasonOf } from '../failures.ts'
import { isForNow } from '../guard.ts'
import type { ItemOutcome } from '../item-outcome.ts'
import type { ImportContext, PartImporter } from '../part-importer.ts'
import type { Deps } from './deps.ts'
import { readHandle } from './handles.ts'

export function makeBlocklistImporter(deps: Deps): PartImporter<'blocklist'> {
  const { blocklist, references, isHost, urls } = deps

  async function blockServer(name: string, { accountId: ownerId }: ImportContext): Promise<ItemOutcome> {
    const host = normalHost(name)
    if (host === undefined || !isHost(host) || host === urls.host) return { error: 'invalid' }
    return (await blocklist.blockServer({ ownerId, host })) ? 'success' : 'duplicate'
  }

  async function blockAccount(text: string, context: ImportContext): Promise<ItemOutcome> {
    const handle = readHandle(text, deps)
    if (!handle) return { error: 'invalid' }
    const targetId = await references.account(handle, context)
    const { accountId: ownerId } = context
    if (targetId === ownerId) return { error: 'invalid' }
    return (await blocklist.blockAccount({ ownerId, targetId })) ? 'success' : 'duplicate'
  }

  return {
    part: 'blocklist',
    async importItem({ instances, actors }, context) {
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
      for (const { host } of instances) await each(() => blockServer(host, context))
      for (const { handle } of actors) await each(() => blockAccount(handle, context))
      const brought = (['success', 'duplicate'] as const).find((outcome) => outcomes.includes(outcome))
      return brought ?? outcomes[0] ?? 'duplicate'
    },
  }
}
