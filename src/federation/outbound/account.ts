// Removal of a local account with its channels, or of a single channel: each sends its own Delete to everybody who knows one of them:
// followers, servers of actors and videos that it followed, commented on or rated, and those that did so with its videos.

import { followersOf, type Recipient } from '../../actors/delivery/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import type { FederationDeps } from '../deps.ts'
import { publicAudience } from '../documents/index.ts'
import { buildDelete } from '../wire/index.ts'
import type { Sender } from './sender.ts'

export function sendAccounts(deps: FederationDeps & { instanceActorId: () => Promise<number> }, { send }: Sender): void {
  const { registry, urls, instanceActorId } = deps

  registry.on('AccountRemoved', 'federation', async ({ actorId, url, channels }, unit) => {
    const gone = [...channels, { actorId, url }]
    const knowing = gone.map((actor) => actor.actorId)
    await sayFarewell(unit, gone, await whoKnows(unit, actorId, knowing))
  })

  registry.on('ChannelEmptied', 'federation', async ({ actorId, url, accountActorId }, unit) => {
    // Followers of the account know the videos, which name their channel.
    await sayFarewell(unit, [{ actorId, url }], await whoKnows(unit, actorId, [actorId, accountActorId]))
  })

  async function whoKnows(unit: Unit, actorId: number, followed: number[]): Promise<Recipient[]> {
    const [known] = await unit.query<{ inboxes: Recipient[] | null }>('select known_at as inboxes from actor where id = $1', [actorId])
    // Followers of the instance know them by the videos that it announced.
    const followers = await followersOf(unit.query, [...followed, await instanceActorId()])
    return [...followers, ...(known?.inboxes ?? [])]
  }

  async function sayFarewell(unit: Unit, gone: { actorId: number; url: string }[], recipients: Recipient[]): Promise<void> {
    for (const { actorId, url } of gone) {
      const activity = buildDelete({ id: urls.deleteOf(url), actor: url, target: url, ...publicAudience(urls, url) })
      await send(unit, { activity, senderId: actorId, recipients })
    }
  }
}
