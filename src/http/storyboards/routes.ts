// Storyboards: preview pictures for seeking in a video.

import { z } from 'zod'
import { type FileTokens, listStoryboards } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { idOrUuid } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { tokensFor, withFileToken } from '../videos/address-token.ts'
import { visibleVideo } from '../videos/visible-video.ts'

const storyboardView = z
  .object({
    storyboardPath: z.string(),
    totalHeight: z.int(),
    totalWidth: z.int(),
    spriteHeight: z.int(),
    spriteWidth: z.int(),
    spriteDuration: z.int(),
  })
  .meta({ id: 'Storyboard' })

/** Adds `/api/v1/videos/{id}/storyboards`. */
export function storyboardsArea({
  db,
  config,
  fileTokens,
}: {
  db: Database
  config: () => Config
  fileTokens: Pick<FileTokens, 'issue'>
}): Area {
  return (app) => {
    app.get(
      '/api/v1/videos/:videoId/storyboards',
      {
        config: { auth: 'optional' },
        schema: {
          tags: ['Video'],
          params: z.object({ videoId: idOrUuid('video') }),
          response: { 200: z.object({ storyboards: z.array(storyboardView) }) },
        },
      },
      async (request) => {
        const video = await visibleVideo({ db, config }, request, request.params.videoId)
        const [rows, token] = [await listStoryboards(db, video.id), await tokensFor(fileTokens, request)(video)]
        return {
          storyboards: rows.map((row) => ({
            storyboardPath: withFileToken(`/lazy-static/storyboards/${row.filename}`, token),
            totalHeight: row.total_height,
            totalWidth: row.total_width,
            spriteHeight: row.sprite_height,
            spriteWidth: row.sprite_width,
            spriteDuration: row.sprite_duration,
          })),
        }
      },
    )
  }
}
