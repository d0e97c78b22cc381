// The user's account: `account`, and the actor of `activity-pub/`.

import type { Export } from '../export.ts'
import { describeActor, writePictures } from './actor-pictures.ts'

export async function writeAccount(of: Export): Promise<void> {
  const { writer, documents, user } = of
  const pictures = await writePictures(of, 'account', user.account)
  await writer.part('account', describeActor(of, user.account, pictures))
  const actor = await documents.actor(user.account.actorId, pictures)
  if (actor) await writer.document('actor', actor)
}
