// An account of ours is gone with its channels: each says so itself, to everybody who knew one of them: followers, and servers
// of whom and what it followed, commented on or rated.

import { followersOf, type Recipient } from '../../actors/delivery/index.ts'
import type { FederationDeps } from '../deps.ts'
import { publicAudience } from '../documents/index.ts'
import { buildDelete } from '../wire/index.ts'
import type { Sender } from './sender.ts'

export function sendAccounts(
  deps: FederationDeps & { instanceActorId: () => Promise<number> },
  { send }: Sender,
): void {
  const { registry, urls, instanceActorId } = deps

  registry.on('AccountRemoved', 'federation', async ({ actorId, url, channels }, unit) => {
    const gone = [...channels, { actorId, url }]
    // Followers of the instance got to know them by the videos that it announced.
    const knowing = [...gone.map((actor) => actor.actorId), await instanceActorId()]
    const [known] = await unit.query<{ inboxes: Recipient[] | null }>(
      'select known_at as inboxes from actor where id = $1',
      [actorId],
    )
    const recipients = [...(await followersOf(unit.query, knowing)), ...(known?.inboxes ?? [])]
    for (const actor of gone) {
      const activity = buildDelete({
        id: urls.deleteOf(actor.url),
        actor: actor.url,
        target: actor.url,
        ...publicAudience(urls, actor.url),
      })
      await send(unit, { activity, senderId: actor.actorId, recipients })
    }
  })
}
