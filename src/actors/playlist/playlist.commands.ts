// Local playlists: creation, change and removal.

import type { EncodedImage, FileRef, Store } from '../../media/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { type ActorDeps, DomainError, notFound, type StoreWith, type Unit } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import type { Leases, PendingFiles } from '../video/index.ts'
import { Playlist, playlistPrivacies, playlistTypes } from './playlist.entity.ts'
import { assertHasChannel, assertIsRegular, assertMayManagePlaylist, isOpenPlaylist } from './playlist.policy.ts'
import { insertElements, type NewElement } from './playlist-elements.ts'

export interface PlaylistFields {
  name: string
  description: string | null
  privacy: number
  channelId: number | null
}

/** The initial content of a playlist. */
export interface PlaylistBeginning {
  picture?: EncodedImage | undefined
  /** In order. Videos that are removed meanwhile are left out. */
  elements?: readonly NewElement[]
  /** Stored in the same transaction. */
  also?: StoreWith
}

type Deps = ActorDeps & { store: Store; pendingFiles: PendingFiles; leases: Pick<Leases, 'owner'> }

export type Playlists = ReturnType<typeof makePlaylists>

export function makePlaylists(deps: Deps) {
  const { db, tell, urls, store, pendingFiles, leases } = deps

  /** Stores the picture before the rows that name it, and removes it if they are refused. */
  async function withPicture<T>(
    picture: EncodedImage | undefined,
    work: (filename: string | undefined, settle: (unit: Unit) => Promise<void>) => Promise<T>,
  ): Promise<T> {
    if (!picture) return await work(undefined, async () => undefined)
    const ref: FileRef = { kind: 'thumbnails', name: `playlist-${newUuid()}.jpg` }
    await pendingFiles.reserve(leases.owner, [ref])
    try {
      await store.put(ref, picture.bytes)
      return await work(ref.name, (unit) => pendingFiles.settle(unit.query, [ref]))
    } catch (error) {
      // The transaction may have been committed although its response was lost.
      const stored = await db.query('select 1 from playlist where thumbnail_filename = $1', [ref.name])
      if (stored.length === 0) await pendingFiles.discard([ref])
      throw error
    }
  }

  return {
    /** Throws `invalid` for a playlist without a channel that is not private, `not_found` and `forbidden` for the channel. */
    async create(by: NonNullable<Viewer>, fields: PlaylistFields, { picture, elements = [], also }: PlaylistBeginning = {}) {
      assertHasChannel(fields, '"public" or "unlisted"')
      return await withPicture(picture, (filename, settle) =>
        tell.create(async (unit) => {
          await assertIsOwnChannel(unit, fields.channelId, by.accountId)
          const uuid = newUuid()
          const playlist = unit.em.create(Playlist, {
            ...fields,
            uuid,
            url: urls.playlist(uuid),
            accountId: by.accountId,
            type: playlistTypes.regular,
            thumbnailFilename: filename ?? null,
            createdAt: unit.now,
            updatedAt: unit.now,
          })
          await unit.em.flush()
          await settle(unit)
          const { id } = playlist
          if (elements.length > 0) playlist.elementsCount = await insertElements(unit, id, elements)
          await also?.(unit, id)
          if (isOpenPlaylist(fields.privacy)) unit.emit({ aggregate: 'playlist', id }, 'PlaylistCreated', { playlistId: id })
          return { id, uuid }
        }),
      )
    },

    /** Omitted fields stay. Throws `not_found`, `forbidden`, and `invalid` like above and for “Watch later”. */
    async update(id: number, by: NonNullable<Viewer>, changes: Partial<PlaylistFields>, picture?: EncodedImage): Promise<void> {
      await withPicture(picture, (filename, settle) =>
        tell({ aggregate: 'playlist', id }, async (unit) => {
          const playlist = await load(unit, id)
          assertMayManagePlaylist(playlist, by, 'UPDATE_ANY_VIDEO_PLAYLIST')
          assertIsRegular(playlist, 'update')
          const { privacy, channelId = null } = playlist
          const named = changes.privacy === playlistPrivacies.public ? '"public"' : '"public" or "unlisted"'
          const { privacy: newPrivacy = privacy, channelId: newChannelId = channelId } = changes
          assertHasChannel({ privacy: newPrivacy, channelId: newChannelId }, named)
          if (newChannelId !== channelId) await assertIsOwnChannel(unit, newChannelId, playlist.accountId)
          const before = await removalOf(unit, playlist)
          const wasOpen = isOpenPlaylist(privacy)
          Object.assign(playlist, changes, filename === undefined ? {} : { thumbnailFilename: filename })
          playlist.updatedAt = unit.now
          await unit.em.flush()
          await settle(unit)
          const of = { aggregate: 'playlist', id } as const
          if (isOpenPlaylist(playlist.privacy)) {
            unit.emit(of, wasOpen ? 'PlaylistUpdated' : 'PlaylistCreated', { playlistId: id })
          } else if (wasOpen) unit.emit(of, 'PlaylistRemoved', before)
        }),
      )
    },

    /** Throws `not_found`, `forbidden`, and `invalid` for “Watch later”. */
    async remove(id: number, by: NonNullable<Viewer>): Promise<void> {
      await tell({ aggregate: 'playlist', id }, async (unit) => {
        const playlist = await load(unit, id)
        assertMayManagePlaylist(playlist, by, 'REMOVE_ANY_VIDEO_PLAYLIST')
        assertIsRegular(playlist, 'delete')
        const removal = await removalOf(unit, playlist)
        unit.em.remove(playlist)
        if (isOpenPlaylist(playlist.privacy)) unit.emit({ aggregate: 'playlist', id }, 'PlaylistRemoved', removal)
      })
    },
  }
}

async function load(unit: Unit, id: number): Promise<Playlist> {
  const playlist = await unit.em.findOne(Playlist, id)
  if (!playlist) throw notFound('Video playlist not found')
  return playlist
}

/**
 * Locks the channel until the playlist is stored. Other servers accept only channels of the playlist's account, so this applies to the
 * staff too.
 */
async function assertIsOwnChannel(unit: Unit, channelId: number | null, accountId: number): Promise<void> {
  if (channelId === null) return
  const [channel] = await unit.query<{ account_id: number }>(
    `select c.account_id from channel c join actor a on a.id = c.actor_id
     where c.id = $1 and c.state = 'active' and a.host_id is null for key share of c`,
    [channelId],
  )
  if (!channel) throw notFound('Video channel not found')
  if (channel.account_id === accountId) return
  throw new DomainError('forbidden', 'Cannot put a playlist into a channel of another user.')
}

/** What a Delete of the playlist needs to know once the row has changed or is deleted. */
async function removalOf(unit: Unit, { id, url, accountId, channelId }: Playlist) {
  const [actors] = await unit.query<{ account: number; channel: number | null }>(
    `select a.actor_id as account, (select c.actor_id from channel c where c.id = $2) as channel
     from account a where a.id = $1`,
    [accountId, channelId],
  )
  if (!actors) throw new Error(`The account ${accountId} of the playlist ${id} does not exist.`)
  return { playlistId: id, url, accountActorId: actors.account, channelActorId: actors.channel }
}
