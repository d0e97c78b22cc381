// Removal of a channel: a job deletes its content, then its row; the servers that know it are notified at the end. The actor remains as a
// tombstone, so that its name is never reused. Its keys are deleted with those of removed users.

import { removeActorImages } from '../actor-image/actor-image.writes.ts'
import { removeChannel } from '../channel/channel.writes.ts'
import { dropFollows } from '../follow/index.ts'
import { type ActorDeps, DomainError, resumeJobs, type Unit } from '../runtime/index.ts'
import { deleteContents, hasContents, type Removers, rememberKnownServers, removedChannel } from './contents.ts'

export function makeChannelRemoval(deps: ActorDeps & Removers): void {
  const { db, tell, registry } = deps

  const ask = (unit: Unit, channelId: number): void =>
    unit.enqueue({ type: 'channel-removal', data: { channelId }, dedupeKey: `channel-removal-${channelId}` })

  registry.on('ChannelRemoved', 'removal', async ({ channelId }, unit) => ask(unit, channelId))

  registry.job('channel-removal', {
    queue: 'io',
    async run({ data, signal }) {
      const channelId = Number(data.channelId)
      const channel = await removedChannel(db.query, channelId)
      if (!channel) return
      await tell({ aggregate: 'actor', id: channel.actorId }, (unit) => rememberKnownServers(unit.query, channel))
      await deleteContents(db, deps, channel, signal)
      await tell({ aggregate: 'actor', id: channel.actorId }, (unit) => close(unit, channelId))
    },
  })

  resumeJobs(deps, 'channel-removal', { waiting: "select id from channel where state = 'removed' order by id limit 100", ask })

  // After federation's own reaction, which reads the followers, in one transaction with it.
  registry.on('ChannelEmptied', 'removal', async ({ actorId }, unit) => dropFollows(unit, [actorId]))
}

/** Deletes the row if nothing refers to it: nothing can be added while it is locked. Throws `busy`, for which the job waits. */
async function close(unit: Unit, channelId: number): Promise<void> {
  await unit.query('select id from channel where id = $1 for update', [channelId])
  const channel = await removedChannel(unit.query, channelId)
  // It may have been deleted with its user meanwhile.
  if (!channel) return
  if (await hasContents(unit.query, channel)) {
    throw new DomainError('busy', 'Something of this channel is still to go.')
  }
  const { actorId, url, accountActorId } = channel
  await removeActorImages(unit.query, [actorId])
  await removeChannel(unit.query, channelId)
  unit.emit({ aggregate: 'actor', id: actorId }, 'ChannelEmptied', { actorId, url, accountActorId })
}
