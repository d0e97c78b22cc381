// Local videos: Create by the account, Announce by channel and instance; Update; Delete.

import { findActorById } from '../../actors/actor/index.ts'
import { followersOf } from '../../actors/delivery/index.ts'
import { lastNotifiedOwner, noteOwner, notifiedOwners, type VideoOwner } from '../../actors/ownership-change/index.ts'
import { type Playlist, playlistPrivacies } from '../../actors/playlist/index.ts'
import type { Unit } from '../../actors/runtime/index.ts'
import { removeFormerShares, removeLocalShares, storeShare } from '../../actors/share/index.ts'
import { type FederatedVideo, findFederatedVideo, isFederatedState } from '../../actors/video/index.ts'
import type { Columns } from '../../platform/database/index.ts'
import type { FederationDeps } from '../deps.ts'
import { announceActivity, createVideoActivity, publicAudience, videoAudience, videoDocument } from '../documents/index.ts'
import { buildDelete, buildUndo, buildUpdate } from '../wire/index.ts'
import { audienceOf, isAnnounced } from './audience.ts'
import type { Sender } from './sender.ts'

export function sendVideos(deps: FederationDeps & { instanceActorId: () => Promise<number> }, { send }: Sender): void {
  const { registry, urls, config, instanceActorId } = deps

  registry.on('VideoPublished', 'federation', async ({ videoId, again = false }, unit) => {
    const video = await findLocalVideo(unit, videoId)
    if (!video || !isAnnounced(video, config())) return
    // Others know it from before its processing, also if it has moved meanwhile: a live whose replay was transcoded, or a replaced file.
    if (await hasLocalShare(unit, videoId)) return await change(unit, videoId, video)
    // A replay with another privacy than its live was deleted before.
    await publish(unit, videoId, video, { again: again || (await notifiedOwners(unit, videoId)).length > 0 })
    if (again) await announcePlaylistsWith(unit, videoId)
  })

  for (const event of ['VideoUpdated', 'VideoBlocked', 'VideoUnblocked'] as const) {
    registry.on(event, 'federation', async ({ videoId }, unit) => {
      const video = await findLocalVideo(unit, videoId)
      if (!video || (!isFederatedState(video.state) && !video.isWithdrawn)) return
      // A block alone leaves the video on other servers; they get no updates until it ends.
      if (video.blocked && !video.isWithdrawn && isAnnounced({ ...video, blocked: false }, config())) return
      // The Update between public and unlisted also changes announcements, which unlisted videos do not have.
      if (!isAnnounced(video, config())) {
        if (!(await takeBack(unit, videoId, video, { again: true }))) return
        await announcePlaylistsWith(unit, videoId)
      } else if (await hasLocalShare(unit, videoId)) {
        await change(unit, videoId, video)
      } else {
        await publish(unit, videoId, video, { again: true })
        await announcePlaylistsWith(unit, videoId)
      }
    })
  }

  registry.on('VideoRemoved', 'federation', async ({ videoId, url, accountActorId, channelActorId }, unit) => {
    const account = await findActorById(unit.query, accountActorId)
    if (!account) return
    const stays = await findLocalVideo(unit, videoId)
    const again = stays !== undefined && stays.state !== 'removed'
    const video = { url, accountActorId, accountUrl: account.url, channelActorId }
    if (!(await takeBack(unit, videoId, video, { again }))) return
    await announcePlaylistsWith(unit, videoId)
  })

  registry.on('PlaylistsOfVideoTold', 'federation', async ({ videoId, lastPlaylistId }, unit) => {
    await announcePlaylistsWith(unit, videoId, lastPlaylistId)
  })

  /**
   * `again`: it may have been federated before, and removed by a Delete of the account. Order is guaranteed per actor, so that a server
   * that got the Delete gets a Create of the same account after it.
   */
  async function publish(unit: Unit, videoId: number, video: FederatedVideo, { again = false } = {}): Promise<void> {
    const found = await videoDocument(unit.query, urls, videoId)
    if (!found) return
    const activity = createVideoActivity(urls, found)
    const notified = again ? await notifiedOwners(unit, videoId) : []
    await send(unit, {
      activity: again ? { ...activity, id: urls.againOf(urls.createOf(video.url), unit.now) } : activity,
      senderId: video.accountActorId,
      courierId: notified[0]?.accountActorId,
      recipients: await followersOf(unit.query, again ? await actorsOf(video, notified) : [video.accountActorId]),
    })
    await announce(unit, videoId, video, { id: video.channelActorId, url: video.channelUrl })
    await announce(unit, videoId, video, { id: await instanceActorId(), url: urls.instance })
  }

  async function change(unit: Unit, videoId: number, video: FederatedVideo): Promise<void> {
    // It may have been removed meanwhile: its former owner must still be known for that event.
    if (await update(unit, videoId, video)) await announceByNewChannel(unit, videoId, video)
  }

  /** False if the video does not exist any more. */
  async function update(unit: Unit, videoId: number, video: FederatedVideo): Promise<boolean> {
    const found = await videoDocument(unit.query, urls, videoId)
    if (!found) return false
    const former = await lastNotifiedOwner(unit, videoId, video)
    if (former) await noteOwner(unit, videoId, former)
    const notified = await notifiedOwners(unit, videoId)
    // Other servers know the video as its former owner's, and trust only that actor.
    const sender = former ?? video
    const activity = buildUpdate({
      id: urls.updateOf(video.url, unit.now),
      actor: sender.accountUrl,
      object: found.document,
      ...videoAudience(urls, { ...video, accountUrl: sender.accountUrl }),
    })
    const recipients = await audienceOf(unit.query, await actorsOf(video, notified), videoId)
    await send(unit, { activity, senderId: sender.accountActorId, courierId: notified[0]?.accountActorId, recipients })
    return true
  }

  /** Makes others delete the video; false if they do not know it. */
  async function takeBack(
    unit: Unit,
    videoId: number,
    video: VideoOwner & Pick<FederatedVideo, 'url'>,
    /** True if it stays here and may be announced again. */
    { again }: { again: boolean },
  ): Promise<boolean> {
    const former = await lastNotifiedOwner(unit, videoId, video)
    if (!(await removeLocalShares(unit.query, videoId))) return false
    if (former) await noteOwner(unit, videoId, former)
    const notified = await notifiedOwners(unit, videoId)
    const recipients = await audienceOf(unit.query, await actorsOf(video, notified), videoId)
    const owners = new Map([...notified, video].map((owner) => [owner.accountActorId, owner.accountUrl]))
    for (const [senderId, actor] of owners) {
      const isOwner = senderId === video.accountActorId
      const id = isOwner ? urls.deleteOf(video.url) : urls.deleteBy(video.url, senderId)
      const activity = buildDelete({
        id: again ? urls.againOf(id, unit.now) : id,
        actor,
        target: video.url,
        ...publicAudience(urls, actor),
      })
      await send(unit, { activity, senderId, courierId: notified[0]?.accountActorId, recipients })
    }
    // If another actor announces it again, the Delete must arrive first.
    if (again) await noteOwner(unit, videoId, video)
    return true
  }

  /** The share is also a row, for the collection `announces`. */
  async function announce(unit: Unit, videoId: number, video: FederatedVideo, by: { id: number; url: string }): Promise<void> {
    const id = urls.announce(video.url, by.id)
    await storeShare(unit.query, { videoId, actorId: by.id, url: id })
    const { privacy, accountUrl, url: videoUrl } = video
    const activity = announceActivity(urls, { id, actorUrl: by.url, videoUrl, privacy, accountUrl })
    await send(unit, { activity, senderId: by.id, recipients: await followersOf(unit.query, [by.id]) })
  }

  /** A video that moved is shared by the new channel, and no longer by the old one. */
  async function announceByNewChannel(unit: Unit, videoId: number, video: FederatedVideo): Promise<void> {
    const former = await removeFormerShares(unit.query, videoId, {
      channelActorId: video.channelActorId,
      instanceActorId: await instanceActorId(),
    })
    if (former.length === 0) return
    const { privacy, accountUrl, url: videoUrl } = video
    for (const { url, actorId, actorUrl } of former) {
      const undone = announceActivity(urls, { id: url, actorUrl, videoUrl, privacy, accountUrl })
      const audience = videoAudience(urls, { privacy, accountUrl })
      const activity = buildUndo({ id: urls.undoOf(url), actor: actorUrl, undone, ...audience })
      await send(unit, { activity, senderId: actorId, recipients: await followersOf(unit.query, [actorId]) })
    }
    await announce(unit, videoId, video, { id: video.channelActorId, url: video.channelUrl })
  }

  const actorsOf = async (video: Omit<VideoOwner, 'accountUrl'>, notified: readonly VideoOwner[] = []): Promise<number[]> => [
    ...[video, ...notified].flatMap(({ accountActorId, channelActorId }) => [accountActorId, channelActorId]),
    await instanceActorId(),
  ]
}

/** Playlists that one transaction announces. */
const PLAYLISTS_AT_ONCE = 100

/**
 * The content of a playlist depends on who may see its videos. Other servers do not poll it, and private playlists are not federated.
 * Further batches follow in transactions of their own.
 */
async function announcePlaylistsWith(unit: Unit, videoId: number, after = 0): Promise<void> {
  const playlists = await unit.query<Columns<Playlist, 'id'>>(
    `select distinct p.id from playlist_element e join playlist p on p.id = e.playlist_id
     where e.video_id = $1 and e.playlist_id > $2 and not p.remote and p.privacy <> ${playlistPrivacies.private}
     order by p.id limit ${PLAYLISTS_AT_ONCE}`,
    [videoId, after],
  )
  for (const { id } of playlists) unit.emit({ aggregate: 'playlist', id }, 'PlaylistUpdated', { playlistId: id })
  const last = playlists.at(-1)
  if (last && playlists.length === PLAYLISTS_AT_ONCE) {
    unit.emit({ aggregate: 'video', id: videoId }, 'PlaylistsOfVideoTold', { videoId, lastPlaylistId: last.id })
  }
}

async function hasLocalShare(unit: Unit, videoId: number): Promise<boolean> {
  const shares = await unit.query(
    'select 1 from share s join actor a on a.id = s.actor_id where s.video_id = $1 and a.host_id is null limit 1',
    [videoId],
  )
  return shares.length > 0
}

async function findLocalVideo({ query }: Unit, id: number): Promise<FederatedVideo | undefined> {
  const video = await findFederatedVideo(query, id)
  return video?.remote ? undefined : video
}
