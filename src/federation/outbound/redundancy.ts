// Local copies of remote videos, announced only to the server of the video, which forwards the activity.

import { inboxOf } from '../../actors/delivery/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import type { FederationDeps } from '../deps.ts'
import { copyDocument, createCopyActivity, type FoundCopy, findCopy } from '../documents/index.ts'
import { type Audience, buildUndo, buildUpdate, type JsonObject } from '../wire/index.ts'
import type { Sender } from './sender.ts'

export function sendRedundancies({ registry, urls }: FederationDeps, { send }: Sender): void {
  registry.on('RedundancyStored', 'federation', async ({ redundancyId }, unit) => {
    const copy = await findCopy(unit.query, { id: redundancyId })
    if (!copy || !isThere(copy)) return
    await tell(unit, copy, createCopyActivity(urls, copy, toOwner(copy)))
  })

  registry.on('RedundancyRenewed', 'federation', async ({ redundancyId }, unit) => {
    const copy = await findCopy(unit.query, { id: redundancyId })
    if (!copy || !isThere(copy)) return
    const id = urls.updateOf(copy.url, copy.updatedAt)
    const object = copyDocument(urls, copy, toOwner(copy))
    await tell(unit, copy, buildUpdate({ id, actor: urls.instance, object, ...toOwner(copy) }))
  })

  registry.on('RedundancyRemoved', 'federation', async ({ redundancyId }, unit) => {
    const copy = await findCopy(unit.query, { id: redundancyId })
    if (!copy?.told) return
    const undone = createCopyActivity(urls, copy)
    await tell(unit, copy, buildUndo({ id: urls.undoOf(copy.url), actor: urls.instance, undone, ...toOwner(copy) }))
  })

  async function tell(unit: Unit, copy: FoundCopy, activity: JsonObject): Promise<void> {
    const recipients = await inboxOf(unit.query, copy.ownerId, { personal: false })
    await send(unit, { activity, senderId: copy.actorId, recipients })
  }
}

const toOwner = ({ ownerUrl }: FoundCopy): Audience => ({ to: [ownerUrl], cc: [] })

const isThere = ({ state }: FoundCopy): boolean => state === 'stored' || state === 'announced'
