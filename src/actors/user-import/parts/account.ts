// The account: display name and description. Its name is that of the local user.

import { z } from 'zod'
import type { PartImporter } from '../part-importer.ts'
import type { Deps } from './deps.ts'
import { name, readItem, textOrNull } from './fields.ts'
import { fillActorImages } from './pictures.ts'

const fields = z.object({ displayName: name(1, 120), description: textOrNull(3, 1000) })

interface Known {
  actorId: number
  displayName: string
  description: string | null
}

/** The texts of the archive replace the local ones; a picture is added only if there is none. */
export function makeAccountImporter(deps: Deps): PartImporter<'account'> {
  const { db, updateMe } = deps
  return {
    part: 'account',
    async importItem(item, context) {
      const { userId, accountId } = context
      const { displayName, description } = readItem(fields, item)
      const [known] = await db.query<Known>('select actor_id as "actorId", name as "displayName", description from account where id = $1', [
        accountId,
      ])
      if (!known) return { error: 'not_found' }
      const changes = description === null ? { displayName } : { displayName, description }
      const isOther = displayName !== known.displayName || (description !== null && description !== known.description)
      if (isOther) await updateMe({ userId, sessionId: 0 }, { settings: {}, ...changes })
      const { avatar } = item.archiveFiles
      const filled = await fillActorImages(deps, known.actorId, { avatar }, context)
      return isOther || filled ? 'success' : 'duplicate'
    },
  }
}
