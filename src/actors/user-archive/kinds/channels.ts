// The user's channels: `channels`. One is created if the user has none of that name. If another local user has or had the name, the channel
// gets a name derived from it, and the archive’s videos and playlists go there.

import { z } from 'zod'
import { freeActorName } from '../../actor/index.ts'
import { findChannelByHandle } from '../../channel/index.ts'
import { DomainError } from '../../runtime/index.ts'
import type { ImportContext } from '../import-context.ts'
import type { ImportDeps } from '../import-deps.ts'
import { name, readItem, textOrNull } from '../import-fields.ts'
import { channelKey, findImported, noteImported } from '../imported-objects.ts'
import { definePart, nullableText } from '../part.ts'
import { viewerOf } from '../references.ts'
import { actorItem, describeActor, fillPictures, writePictures } from './actors.ts'

const LONGEST_NAME = 50
/** The rules for new names of users and channels. */
const channelName = z
  .string()
  .max(LONGEST_NAME)
  .regex(/^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/)

const fields = z.object({
  name: channelName,
  displayName: name(1, 120),
  description: textOrNull(3, 1000),
  support: textOrNull(3, 1000),
})
type Fields = z.output<typeof fields>

export const channels = definePart({
  name: 'channels',
  list: 'channels',
  item: actorItem.extend({ support: nullableText }),
  result: 'channels',
  namedBy: 'name',

  async export(of) {
    const items = []
    for (const channel of of.user.channels) {
      const pictures = await writePictures(of, 'channels', channel)
      items.push({ ...describeActor(of, channel, pictures), support: channel.support })
    }
    return items
  },

  import: (deps) => async (item, context) => {
    const channel = readItem(fields, item)
    const { url, archiveFiles } = item
    const own = await findOwnChannel(deps, { url, name: channel.name }, context.accountId)
    const id = own ?? (await make(deps, channel, url, context))
    // Also for a channel that an interrupted import created.
    const { actorId, filled } = await fillTexts(deps, id, channel, context)
    const hasNewPictures = await fillPictures(deps, actorId, archiveFiles, context)
    return own === undefined || filled || hasNewPictures ? 'success' : 'duplicate'
  },
})

/** Attempts if a free name is taken in the meantime. */
const TRIES = 5

async function make({ db, channels }: ImportDeps, channel: Fields, url: string, { accountId }: ImportContext): Promise<number> {
  const [account] = await db.query<{ actorId: number }>('select actor_id as "actorId" from account where id = $1', [accountId])
  if (!account) throw new DomainError('forbidden', 'There is no such account.')
  const key = { accountId, kind: 'channel', key: channelKey(url, channel.name) } as const
  for (let attempt = 1; ; attempt += 1) {
    const free = await freeActorName(db.query, channel.name, LONGEST_NAME)
    try {
      const made = await channels.create({ accountId, actorId: account.actorId }, { ...channel, name: free }, (unit, id) =>
        noteImported(unit, key, id),
      )
      return made.id
    } catch (error) {
      if (attempt === TRIES || !(error instanceof DomainError && error.kind === 'conflict')) throw error
    }
  }
}

interface Known {
  actorId: number
  description: string | null
  support: string | null
}

/** Keeps what the user wrote here. */
async function fillTexts(
  { db, channels }: ImportDeps,
  channelId: number,
  { description, support }: Fields,
  { accountId }: ImportContext,
): Promise<{ actorId: number; filled: boolean }> {
  const [known] = await db.query<Known>('select actor_id as "actorId", description, support from channel where id = $1', [channelId])
  if (!known) throw new DomainError('gone', 'The channel does not exist any more.')
  const missing = {
    ...(known.description === null && description !== null ? { description } : {}),
    ...(known.support === null && support !== null ? { support } : {}),
  }
  const filled = Object.keys(missing).length > 0
  if (filled) await channels.update(channelId, viewerOf(accountId), missing)
  return { actorId: known.actorId, filled }
}

/** The channel that was made from one of an archive, or the user's own of that name. */
export async function findOwnChannel(
  { db }: Pick<ImportDeps, 'db'>,
  { url, name: called }: { url: string; name: string },
  accountId: number,
): Promise<number | undefined> {
  const made = await findImported(db.query, { accountId, kind: 'channel', key: channelKey(url, called) })
  if (made !== undefined) return made
  const named = await findChannelByHandle(db, { name: called, host: null })
  return named?.accountId === accountId ? named.id : undefined
}
