// Notifies all processes about changed documents, so that none of them serves a stale one from its cache.

import { type Actor, findActorById } from '../actors/actor/index.ts'
import type { Unit } from '../actors/runtime/index.ts'
import type { Columns, Sql } from '../platform/database/index.ts'
import { DOCUMENT_CHANGED } from './cache.ts'
import type { FederationDeps } from './deps.ts'

export function announceChanges({ registry, urls }: FederationDeps): void {
  const forgetPlaylist = (unit: Unit, url: string, actors: (string | null)[]): void => {
    unit.publish(DOCUMENT_CHANGED, { url })
    for (const actor of actors) {
      if (actor !== null) unit.publish(DOCUMENT_CHANGED, { url: urls.actorCollection(actor, 'playlists') })
    }
  }

  /** Also for remote videos: local documents below them have local addresses. */
  const urlOf = async (query: Sql, videoId: number): Promise<string | undefined> => {
    const [video] = await query<{ uuid: string }>('select uuid from video where id = $1', [videoId])
    return video && urls.video(video.uuid)
  }
  for (const event of ['VideoPublished', 'VideoUpdated', 'VideoBlocked', 'VideoUnblocked', 'RatingSet', 'RatingRemoved'] as const) {
    registry.on(event, 'documents', async ({ videoId: video }, unit) => {
      const url = await urlOf(unit.query, video)
      if (url) unit.publish(DOCUMENT_CHANGED, { url, video })
    })
  }
  for (const event of ['CommentRefused', 'CommentRemoved', 'CommentHeldAgain'] as const) {
    registry.on(event, 'documents', async ({ videoId }, unit) => {
      const url = await urlOf(unit.query, videoId)
      if (url) unit.publish(DOCUMENT_CHANGED, { url })
    })
  }
  for (const event of ['CommentCreated', 'CommentApproved', 'CommentShown'] as const) {
    registry.onSeveral(event, 'documents', async (payloads, unit) => {
      const videos = await unit.query<{ uuid: string }>(
        'select distinct v.uuid from comment m join video v on v.id = m.video_id where m.id = any((select $1::int[])::int[])',
        [payloads.map(({ commentId }) => commentId)],
      )
      for (const { uuid } of videos) unit.publish(DOCUMENT_CHANGED, { url: urls.video(uuid) })
    })
  }
  for (const event of ['PlaylistCreated', 'PlaylistUpdated'] as const) {
    registry.on(event, 'documents', async ({ playlistId }, unit) => {
      const [playlist] = await unit.query<{ url: string; accountUrl: string; channelUrl: string | null }>(
        `select p.url, ax.url as "accountUrl", cx.url as "channelUrl" from playlist p
         join account a on a.id = p.account_id join actor ax on ax.id = a.actor_id
         left join channel c on c.id = p.channel_id left join actor cx on cx.id = c.actor_id where p.id = $1`,
        [playlistId],
      )
      if (playlist) forgetPlaylist(unit, playlist.url, [playlist.accountUrl, playlist.channelUrl])
    })
  }
  registry.on('PlaylistRemoved', 'documents', async ({ url, accountActorId, channelActorId }, unit) => {
    const actors = await unit.query<Columns<Actor, 'url'>>('select url from actor where id in ($1, $2)', [accountActorId, channelActorId])
    forgetPlaylist(
      unit,
      url,
      actors.map((actor) => actor.url),
    )
  })
  for (const event of ['RedundancyStored', 'RedundancyRenewed', 'RedundancyRemoved'] as const) {
    registry.on(event, 'documents', async ({ redundancyId }, unit) => {
      const [copy] = await unit.query<{ url: string }>('select url from redundancy where id = $1', [redundancyId])
      if (copy) unit.publish(DOCUMENT_CHANGED, { url: copy.url })
    })
  }
  // Content of blocked actors is in many documents. A user's mutes change none.
  for (const [event, table] of [
    ['AccountBlocked', 'account_block'],
    ['ServerBlocked', 'server_block'],
  ] as const) {
    registry.on(event, 'documents', async ({ blockId }, unit) => {
      const [block] = await unit.query(`select 1 from ${table} where id = $1 and owner_id is null`, [blockId])
      if (block) unit.publish(DOCUMENT_CHANGED, { all: true })
    })
  }
  registry.on('ActorUpdated', 'documents', async ({ actorId }, unit) => {
    const actor = await findActorById(unit.query, actorId)
    if (actor?.isLocal) unit.publish(DOCUMENT_CHANGED, { url: actor.url })
  })
  registry.on('VideoRemoved', 'documents', async ({ url, videoId: video }, unit) => unit.publish(DOCUMENT_CHANGED, { url, video }))
  registry.on('ChannelRemoved', 'documents', async ({ url }, unit) => unit.publish(DOCUMENT_CHANGED, { url }))
  registry.on('UserRemoved', 'documents', async ({ userId }, unit) => {
    const actors = await unit.query<Columns<Actor, 'url'>>(
      `select x.url from account a left join channel c on c.account_id = a.id join actor x on x.id in (a.actor_id, c.actor_id)
       where a.user_id = $1`,
      [userId],
    )
    for (const { url } of actors) unit.publish(DOCUMENT_CHANGED, { url })
  })
}
