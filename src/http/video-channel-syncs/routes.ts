// Synchronisation of channels with channels of other sites: `/video-channel-syncs`, those of an account, and the import of a whole channel.

import { z } from 'zod'
import { findAccount } from '../../actors/account/index.ts'
import { findChannelByHandle } from '../../actors/channel/index.ts'
import { assertMayManageSyncs, type ChannelSyncs, findChannelSync, listChannelSyncs } from '../../actors/channel-sync/index.ts'
import { notFound } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { sessionOf } from '../plugins/auth.ts'
import { toActorHandle } from '../plugins/handles.ts'
import { idNumber, idText, isOpenWebAddress, listOf, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { channelParam } from '../video-channels/fields.ts'
import type { Here } from '../videos/actor.view.ts'
import { viewerOf } from '../videos/viewer.ts'
import { channelSyncView, toChannelSyncView } from './views.ts'

const tags = ['Channels Sync']
const params = z.object({ channelSyncId: idText })
const ALL = '/api/v1/video-channel-syncs'

const LONGEST_URL = 2000

const externalChannelUrl = z.string('Invalid value').max(LONGEST_URL, 'Invalid value').refine(isOpenWebAddress, 'Invalid value')

const newSync = z.object({ externalChannelUrl, videoChannelId: idNumber.min(1) }).meta({ id: 'VideoChannelSyncCreate' })
const importOfAll = z.object({ externalChannelUrl, videoChannelSyncId: idNumber.optional() }).meta({ id: 'ImportVideosInChannelCreate' })

export function videoChannelSyncsArea(deps: { db: Database; config: () => Config; urls: Here; channelSyncs: ChannelSyncs }): Area {
  const { db, config, urls, channelSyncs } = deps

  return (app) => {
    app.get(
      '/api/v1/accounts/:name/video-channel-syncs',
      {
        config: { auth: 'user' },
        schema: {
          tags: ['Video Channels'],
          params: z.object({ name: z.string() }),
          querystring: z.object({
            ...paging(config()),
            sort: sorting(['externalChannelUrl', 'videoChannel', 'createdAt', 'lastSyncAt', 'state'], '-createdAt'),
          }),
          response: { 200: listOf(channelSyncView) },
        },
      },
      async (request) => {
        const handle = toActorHandle(request.params.name, urls.host)
        const account = await findAccount(db, handle)
        if (!account) throw notFound('Account not found')
        assertMayManageSyncs({ accountId: account.id, remote: handle.host !== null }, viewerOf(sessionOf(request)))
        const { total, rows } = await listChannelSyncs(db, { ...request.query, accountId: account.id })
        return { total, data: rows.map((row) => toChannelSyncView(row, urls)) }
      },
    )

    app.post(
      ALL,
      {
        config: { auth: 'user' },
        schema: {
          operationId: 'addVideoChannelSync',
          tags,
          body: newSync,
          response: { 200: z.object({ videoChannelSync: channelSyncView }) },
        },
      },
      async (request) => {
        const { videoChannelId: channelId, externalChannelUrl: url } = request.body
        const { id } = await channelSyncs.create(viewerOf(sessionOf(request)), { channelId, url })
        const row = await findChannelSync(db, id)
        if (!row) throw notFound('Video channel sync not found')
        return { videoChannelSync: toChannelSyncView(row, urls) }
      },
    )

    app.delete(
      `${ALL}/:channelSyncId`,
      {
        config: { auth: 'user' },
        schema: { operationId: 'delVideoChannelSync', tags, params, response: { 204: z.null() } },
      },
      async (request, reply) => {
        await channelSyncs.remove(request.params.channelSyncId, viewerOf(sessionOf(request)))
        return reply.code(204).send(null)
      },
    )

    app.post(
      `${ALL}/:channelSyncId/sync`,
      {
        config: { auth: 'user' },
        schema: { operationId: 'triggerVideoChannelSync', tags, params, response: { 204: z.null() } },
      },
      async (request, reply) => {
        await channelSyncs.start(request.params.channelSyncId, viewerOf(sessionOf(request)))
        return reply.code(204).send(null)
      },
    )

    app.post(
      '/api/v1/video-channels/:channelHandle/import-videos',
      {
        config: { auth: 'user' },
        schema: { tags: ['Video Channels'], params: channelParam, body: importOfAll, response: { 204: z.null() } },
      },
      async (request, reply) => {
        const channel = await findChannelByHandle(db, toActorHandle(request.params.channelHandle, urls.host))
        if (!channel) throw notFound('Video channel not found')
        const { externalChannelUrl: url, videoChannelSyncId: syncId } = request.body
        await channelSyncs.importAll(viewerOf(sessionOf(request)), { channelId: channel.id, url, syncId })
        return reply.code(204).send(null)
      },
    )
  }
}
