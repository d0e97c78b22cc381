// Playlists: lists, one playlist; creation, change and removal.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  assertMaySeePlaylist,
  findPlaylist,
  findPlaylistKey,
  findPlaylistOwner,
  listPlaylists,
  type PlaylistListQuery,
  type Playlists,
  playlistSortFields,
} from '../../actors/playlist/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import type { Session } from '../../actors/session/index.ts'
import type { Uploads } from '../../actors/upload/index.ts'
import { seesAllVideos } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { EncodedImage } from '../../media/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { toShortUuid } from '../../platform/ids.ts'
import { sessionOf } from '../plugins/auth.ts'
import { addFormRoutes, withForm } from '../plugins/multipart.ts'
import { idOrUuid, integerText, listOf, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { fitPictures, pictureFile } from '../uploads/form-files.ts'
import type { Here } from '../videos/actor.view.ts'
import { assertActorFollowed } from '../videos/follow-constraints.ts'
import { viewerOf } from '../videos/viewer.ts'
import { newPlaylist, playlistChanges, toNewPlaylist, toPlaylistChanges } from './fields.ts'
import type { RefreshStale } from './refresh-stale.ts'
import { playlistPrivacyLabels, playlistView, toPlaylistView } from './views.ts'

const tags = ['Video Playlists']
const PICTURE = 'thumbnailfile'
const byKey = z.object({ playlistId: idOrUuid('playlist') })

/** Adds `/api/v1/video-playlists`, and the playlists of accounts and channels. */
export function playlistsArea(deps: {
  db: Database
  config: () => Config
  urls: Here
  playlists: Playlists
  uploads: Pick<Uploads, 'beginForm' | 'fitPicture'>
  refreshStale: RefreshStale
}): Area {
  const { db, config, urls, playlists, uploads, refreshStale } = deps

  const listQuery = () =>
    z.object({
      ...paging(config()),
      sort: sorting(playlistSortFields, '-createdAt'),
      playlistType: integerText({ min: 1, max: 2 }).optional(),
    })

  async function list(
    query: z.output<ReturnType<typeof listQuery>>,
    options: Pick<PlaylistListQuery, 'of' | 'everyPrivacy' | 'search' | 'mutedFor'>,
  ) {
    const { playlistType: type, ...page } = query
    const { total, rows } = await listPlaylists(db, { ...page, type, ...options })
    return { total, data: rows.map((row) => toPlaylistView(row, urls)) }
  }

  async function ownerOf(kind: 'account' | 'channel', handle: string) {
    const [name = '', host] = handle.split('@')
    const isLocal = host === undefined || host.toLowerCase() === urls.host
    const owner = await findPlaylistOwner(db, { kind, name, host: isLocal ? null : host })
    if (!owner) throw notFound(kind === 'account' ? 'Account not found' : 'Video channel not found')
    return owner
  }

  /** Which playlists of an account are listed: all for the owner, also muted ones for the staff. */
  function shownOf(accountId: number, session: Session | null): Pick<PlaylistListQuery, 'everyPrivacy' | 'mutedFor'> {
    const viewer = viewerOf(session)
    const everyPrivacy = viewer?.accountId === accountId
    return { everyPrivacy, mutedFor: everyPrivacy || seesAllVideos(viewer) ? undefined : (viewer?.accountId ?? null) }
  }

  /** Reads a form or a JSON body, and removes its temporary files. */
  async function receive<S extends z.ZodType, R>(
    request: FastifyRequest,
    fields: S,
    use: (fields: z.output<S>, picture: EncodedImage | undefined) => Promise<R>,
  ): Promise<R> {
    const { folder, end } = await uploads.beginForm()
    try {
      const picture = pictureFile({ field: PICTURE, folder, maxBytes: config().vireo.uploads.max_image_size })
      return await withForm(request, { fields, files: { [PICTURE]: picture } }, async (sent) => {
        const { thumbnail } = await fitPictures(uploads, { thumbnailfile: sent.files[PICTURE] })
        return await use(sent.fields, thumbnail)
      })
    } finally {
      await end()
    }
  }

  return (app) => {
    app.get(
      '/api/v1/video-playlists',
      {
        config: { auth: 'optional' },
        schema: {
          tags,
          querystring: listQuery(),
          response: { 200: listOf(playlistView) },
        },
      },
      ({ query, session }) => list(query, { everyPrivacy: false, mutedFor: session?.user.accountId ?? null }),
    )

    app.get(
      '/api/v1/video-playlists/privacies',
      {
        schema: {
          tags,
          response: { 200: z.record(z.string(), z.string()) },
        },
      },
      () => playlistPrivacyLabels,
    )

    app.get(
      '/api/v1/accounts/:name/video-playlists',
      {
        config: { auth: 'optional' },
        schema: {
          tags,
          params: z.object({ name: z.string() }),
          querystring: listQuery().extend({ search: z.string().max(1000).optional() }),
          response: { 200: listOf(playlistView) },
        },
      },
      async ({ params, query: { search, ...query }, session }) => {
        const { accountId } = await ownerOf('account', params.name)
        await assertActorFollowed({ db, config }, session !== null, { accountId })
        return await list(query, { of: { accountId }, ...shownOf(accountId, session), search: search || undefined })
      },
    )

    app.get(
      '/api/v1/video-channels/:channelHandle/video-playlists',
      {
        config: { auth: 'optional' },
        schema: {
          tags,
          params: z.object({ channelHandle: z.string() }),
          querystring: listQuery(),
          response: { 200: listOf(playlistView) },
        },
      },
      async ({ params, query, session }) => {
        const { accountId, channelId } = await ownerOf('channel', params.channelHandle)
        const of = { channelId: channelId ?? 0 }
        await assertActorFollowed({ db, config }, session !== null, of)
        return await list(query, { of, ...shownOf(accountId, session) })
      },
    )

    app.get(
      '/api/v1/video-playlists/:playlistId',
      {
        config: { auth: 'optional' },
        schema: { tags, params: byKey, response: { 200: playlistView } },
      },
      async ({ params, session }) => {
        const playlist = await findPlaylist(db, params.playlistId)
        if (!playlist) throw notFound('Video playlist not found')
        const { id, remote, privacy, type, account_id: accountId, refreshed_at: refreshedAt } = playlist
        assertMaySeePlaylist({ privacy, type, remote, accountId }, viewerOf(session), {
          byId: 'id' in params.playlistId,
        })
        if (remote) await assertActorFollowed({ db, config }, session !== null, { accountId, originUrl: playlist.url })
        await refreshStale({ id, remote, refreshedAt })
        return toPlaylistView(playlist, urls)
      },
    )

    addFormRoutes(app, (forms) => {
      forms.post(
        '/api/v1/video-playlists',
        {
          config: { auth: 'user', form: { fields: newPlaylist, json: newPlaylist, files: [PICTURE] } },
          schema: {
            tags,
            response: {
              200: z.object({
                videoPlaylist: z.object({ id: z.int(), shortUUID: z.string(), uuid: z.uuid() }),
              }),
            },
          },
        },
        async (request) => {
          const by = viewerOf(sessionOf(request))
          const { id, uuid } = await receive(request, newPlaylist, (sent, picture) =>
            playlists.create(by, toNewPlaylist(sent), { picture }),
          )
          return { videoPlaylist: { id, shortUUID: toShortUuid(uuid), uuid } }
        },
      )

      forms.put(
        '/api/v1/video-playlists/:playlistId',
        {
          config: { auth: 'user', form: { fields: playlistChanges, json: playlistChanges, files: [PICTURE] } },
          schema: { tags, params: byKey, response: { 204: z.null() } },
        },
        async (request, reply) => {
          const by = viewerOf(sessionOf(request))
          const id = await existing(request.params.playlistId)
          await receive(request, playlistChanges, (sent, picture) => playlists.update(id, by, toPlaylistChanges(sent), picture))
          return reply.code(204).send(null)
        },
      )
    })

    app.delete(
      '/api/v1/video-playlists/:playlistId',
      { config: { auth: 'user' }, schema: { tags, params: byKey, response: { 204: z.null() } } },
      async (request, reply) => {
        await playlists.remove(await existing(request.params.playlistId), viewerOf(sessionOf(request)))
        return reply.code(204).send(null)
      },
    )
  }

  async function existing(key: z.output<typeof byKey>['playlistId']): Promise<number> {
    const playlist = await findPlaylistKey(db, key)
    if (!playlist) throw notFound('Video playlist not found')
    return playlist.id
  }
}
