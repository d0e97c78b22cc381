// The user's playlists with their elements and pictures: `video-playlists`. “Watch later” is merged into the local one.

import { extname } from 'node:path'
import { z } from 'zod'
import { type NewElement, playlistPrivacies, playlistTypes } from '../../playlist/index.ts'
import { DomainError } from '../../runtime/index.ts'
import type { ImportContext, ItemOutcome } from '../import-context.ts'
import type { ImportDeps } from '../import-deps.ts'
import { isForNow } from '../import-errors.ts'
import { name, readItem, secondsOf, textOrNull } from '../import-fields.ts'
import { findImported, noteImported } from '../imported-objects.ts'
import { archiveFile, date, definePart, listOf, nullableText } from '../part.ts'
import { withPicture } from '../pictures.ts'
import { viewerOf } from '../references.ts'
import { iso, mapped, rowsOf } from '../rows.ts'
import { withWorkFolder } from '../unpack.ts'
import { findOwnChannel } from './channels.ts'

const item = z.object({
  displayName: z.string(),
  description: nullableText,
  privacy: z.int(),
  url: z.string(),
  uuid: z.string(),
  /** 1 created by the user, 2 `Watch later`. */
  type: z.int(),
  channel: z.object({ name: z.string().nullish() }).nullish(),
  createdAt: date,
  updatedAt: date,
  thumbnailUrl: nullableText,
  elements: listOf(
    z.object({
      videoUrl: z.string(),
      /** Seconds. */
      startTimestamp: z.number().nullish(),
      stopTimestamp: z.number().nullish(),
    }),
  ).default([]),
  archiveFiles: z.object({ thumbnail: archiveFile }),
})
type ArchivedPlaylist = z.output<typeof item>

const fields = z.object({
  displayName: name(1, 120),
  description: textOrNull(3, 1000),
  privacy: z.literal(Object.values(playlistPrivacies)),
  type: z.literal(Object.values(playlistTypes)),
})

interface PlaylistRow {
  key: number
  uuid: string
  url: string
  displayName: string
  description: string | null
  privacy: number
  type: number
  channelName: string | null
  thumbnail: string | null
  createdAt: Date
  updatedAt: Date
  elements: { videoUrl: string; startTimestamp: number | null; stopTimestamp: number | null }[]
}

const PLAYLISTS = `select p.id as key, p.uuid, p.url, p.name as "displayName", p.description, p.privacy, p.type,
    x.preferred_username as "channelName", p.thumbnail_filename as thumbnail, p.created_at as "createdAt",
    p.updated_at as "updatedAt",
    (select coalesce(jsonb_agg(jsonb_build_object('videoUrl', v.url, 'startTimestamp', e.start_timestamp,
       'stopTimestamp', e.stop_timestamp) order by e.position, e.id), '[]')
     from playlist_element e join video v on v.id = e.video_id where e.playlist_id = p.id) as elements
  from playlist p left join channel c on c.id = p.channel_id left join actor x on x.id = c.actor_id
  where p.account_id = $3 and not p.remote and p.id > $1 order by p.id limit $2`
/** A small page, since each playlist may have many elements. */
const PAGE = 20

export const playlists = definePart({
  name: 'video-playlists',
  list: 'videoPlaylists',
  item,
  result: 'videoPlaylists',
  namedBy: 'displayName',

  async export(of) {
    const rows = () => rowsOf<PlaylistRow>(of, PLAYLISTS, [of.user.account.id], PAGE)
    // The document names files of the archive: write the pictures first.
    const pictures = new Map<number, string>()
    for await (const { key, uuid, thumbnail } of rows()) {
      if (thumbnail === null) continue
      const path = `files/video-playlists/thumbnails/${uuid}${extname(thumbnail)}`
      const file = await of.writer.file(path, [{ kind: 'thumbnails', name: thumbnail }])
      if (file) pictures.set(key, file.path)
    }
    return mapped(rows(), ({ key, channelName, thumbnail, ...playlist }) => ({
      ...playlist,
      channel: channelName === null ? {} : { name: channelName },
      createdAt: iso(playlist.createdAt),
      updatedAt: iso(playlist.updatedAt),
      ...(thumbnail === null ? {} : { thumbnailUrl: `${of.urls.origin}/lazy-static/thumbnails/${thumbnail}` }),
      archiveFiles: { thumbnail: pictures.get(key) ?? null },
    }))
  },

  import: importer,
})

/** Elements whose videos cannot be found are left out. */
function importer(deps: ImportDeps): (item: ArchivedPlaylist, context: ImportContext) => Promise<ItemOutcome> {
  const { db, config, createVideo, playlists, playlistElements, references } = deps

  /** The first elements, up to the limit. Each address is looked up once. */
  async function elementsOf(archived: ArchivedPlaylist, context: ImportContext): Promise<NewElement[]> {
    const found = new Map<string, number | undefined>()
    const elements: NewElement[] = []
    const most = config().vireo.user_data.import_max_playlist_elements
    for (const { videoUrl, startTimestamp, stopTimestamp } of archived.elements.slice(0, most)) {
      context.signal.throwIfAborted()
      if (!found.has(videoUrl)) found.set(videoUrl, await videoOf(videoUrl, context))
      const videoId = found.get(videoUrl)
      if (videoId === undefined) continue
      elements.push({ videoId, startTimestamp: secondsOf(startTimestamp), stopTimestamp: secondsOf(stopTimestamp) })
    }
    return elements
  }

  async function videoOf(url: string, context: ImportContext): Promise<number | undefined> {
    try {
      return await references.video(url, context)
    } catch (error) {
      if (!(error instanceof DomainError) || isForNow(error)) throw error
      return undefined
    }
  }

  /** True if the same user of this server owned it: the archive returned to its origin. */
  async function isOwn(url: string, accountId: number): Promise<boolean> {
    const found = await db.query('select 1 from playlist where url_hash = md5($1)::uuid and url = $1 and not remote and account_id = $2', [
      url,
      accountId,
    ])
    return found.length > 0
  }

  async function watchLater(archived: ArchivedPlaylist, context: ImportContext): Promise<ItemOutcome> {
    const { accountId } = context
    const [own] = await db.query<{ id: number; videos: number[] }>(
      `select p.id, array(select e.video_id from playlist_element e where e.playlist_id = p.id and e.video_id is not null) as videos
       from playlist p where p.account_id = $1 and p.type = $2`,
      [accountId, playlistTypes.watchLater],
    )
    if (!own) return { error: 'not_found' }
    const known = new Set(own.videos)
    let added = 0
    for (const element of await elementsOf(archived, context)) {
      if (known.has(element.videoId)) continue
      known.add(element.videoId)
      // Another worker may have the lease by now, and would add it too.
      context.signal.throwIfAborted()
      await playlistElements.add(own.id, viewerOf(accountId), element)
      added += 1
    }
    return added > 0 ? 'success' : 'duplicate'
  }

  return async (archived, context) => {
    const { accountId, signal } = context
    const { displayName, description, privacy, type } = readItem(fields, archived)
    if (type === playlistTypes.watchLater) return await watchLater(archived, context)
    const key = { accountId, kind: 'playlist', key: archived.url } as const
    if ((await isOwn(archived.url, accountId)) || (await findImported(db.query, key)) !== undefined) return 'duplicate'
    const called = archived.channel?.name
    const channelId = called ? ((await findOwnChannel(deps, { url: archived.url, name: called }, accountId)) ?? null) : null
    const elements = await elementsOf(archived, context)
    const file = context.file(archived.archiveFiles.thumbnail)
    await withWorkFolder(deps, signal, async (unpack) => {
      const picture = await withPicture(deps, { file, unpack, name: 'picture' }, (path) => createVideo.fitPicture('thumbnail', path))
      signal.throwIfAborted()
      await playlists.create(
        viewerOf(accountId),
        { name: displayName, description, privacy, channelId },
        { picture, elements, also: (unit, id) => noteImported(unit, key, id) },
      )
    })
    return 'success'
  }
}
