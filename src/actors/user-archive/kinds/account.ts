// The account: `account`, and the actor of `activity-pub/`. Its texts are imported, and a picture if there is none; its name is that of the
// local user.

import { z } from 'zod'
import { name, readItem, textOrNull } from '../import-fields.ts'
import { definePart } from '../part.ts'
import { actorItem, describeActor, fillPictures, writePictures } from './actors.ts'

const fields = z.object({ displayName: name(1, 120), description: textOrNull(3, 1000) })

interface Known {
  actorId: number
  displayName: string
  description: string | null
}

export const account = definePart({
  name: 'account',
  list: null,
  item: actorItem,
  result: 'account',

  async export(of) {
    const { account: own } = of.user
    const pictures = await writePictures(of, 'account', own)
    const actor = await of.documents.actor(own.actorId, pictures)
    if (actor) await of.writer.document('actor', actor)
    return [describeActor(of, own, pictures)]
  },

  import: (deps) => async (item, context) => {
    const { userId, accountId } = context
    const { displayName, description } = readItem(fields, item)
    const [known] = await deps.db.query<Known>(
      'select actor_id as "actorId", name as "displayName", description from account where id = $1',
      [accountId],
    )
    if (!known) return { error: 'not_found' }
    const changes = description === null ? { displayName } : { displayName, description }
    const isOther = displayName !== known.displayName || (description !== null && description !== known.description)
    if (isOther) await deps.updateMe({ userId, sessionId: 0 }, { settings: {}, ...changes })
    const { avatar } = item.archiveFiles
    const filled = await fillPictures(deps, known.actorId, { avatar }, context)
    return isOther || filled ? 'success' : 'duplicate'
  },
})
