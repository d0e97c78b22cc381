// Imports as clients of the API read them.

import { z } from 'zod'
import type { VideoImportRow } from '../../actors/video-import/index.ts'
import { videoImportStates } from '../../actors/video-import/index.ts'
import type { Here } from '../videos/actor.view.ts'
import type { TokenOf } from '../videos/address-token.ts'
import { includes, toVideoView, videoView } from '../videos/video.view.ts'

export const videoImportView = z
  .object({
    id: z.int(),
    targetUrl: z.string().nullable(),
    magnetUri: z.string().nullable(),
    torrentName: z.string().nullable(),
    state: z.object({ id: z.int(), label: z.string() }),
    error: z.string().nullable(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    /** Omitted if there is no video, or if it is removed. */
    video: videoView.optional(),
    videoChannelSync: z.object({ id: z.int(), externalChannelUrl: z.string() }).optional(),
  })
  .meta({ id: 'VideoImport' })

export const toVideoImportView = async (
  { videoImport, video }: VideoImportRow,
  options: { here: Here; tokenOf: TokenOf },
): Promise<z.infer<typeof videoImportView>> => ({
  id: videoImport.id,
  targetUrl: videoImport.target_url,
  magnetUri: videoImport.magnet_uri,
  torrentName: videoImport.torrent_name,
  state: videoImportStates[videoImport.state],
  error: videoImport.error,
  createdAt: new Date(videoImport.created_at).toISOString(),
  updatedAt: new Date(videoImport.updated_at).toISOString(),
  ...(videoImport.channel_sync
    ? { videoChannelSync: { id: videoImport.channel_sync.id, externalChannelUrl: videoImport.channel_sync.url } }
    : {}),
  ...(video ? { video: await toVideoView(video, { ...options, include: includes.notPublished | includes.tags }) } : {}),
})
