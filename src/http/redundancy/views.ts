// Videos with copies on other servers, as administrators read them.

import { z } from 'zod'
import type { MirroredVideoRow } from '../../actors/redundancy/index.ts'

const copyView = z.object({
  id: z.int(),
  fileUrl: z.string(),
  strategy: z.string().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  expiresOn: z.iso.datetime().nullable(),
  size: z.int(),
})

export const mirroredVideoView = z
  .object({
    id: z.int(),
    name: z.string(),
    url: z.string(),
    uuid: z.uuid(),
    redundancies: z.object({ files: z.array(copyView), streamingPlaylists: z.array(copyView) }),
  })
  .meta({ id: 'VideoRedundancy' })

export const toMirroredVideoView = (row: MirroredVideoRow): z.infer<typeof mirroredVideoView> => ({
  id: row.id,
  name: row.name,
  url: row.url,
  uuid: row.uuid,
  redundancies: { files: row.files.map(toCopyView), streamingPlaylists: row.playlists.map(toCopyView) },
})

const toCopyView = (row: MirroredVideoRow['files'][number]): z.infer<typeof copyView> => ({
  id: row.id,
  fileUrl: row.file_url,
  strategy: row.strategy,
  createdAt: new Date(row.created_at).toISOString(),
  updatedAt: new Date(row.updated_at).toISOString(),
  expiresOn: row.expires_on === null ? null : new Date(row.expires_on).toISOString(),
  size: row.size,
})
