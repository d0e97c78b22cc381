// Blocked videos as clients of the API read them.

import { z } from 'zod'
import type { VideoBlockRow } from '../../actors/video-block/index.ts'
import type { Here } from '../videos/actor.view.ts'
import type { TokenOf } from '../videos/address-token.ts'
import { toVideoView, videoView } from '../videos/video.view.ts'

export const videoBlockView = z
  .object({
    id: z.int(),
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    reason: z.string().nullable(),
    unfederated: z.boolean(),
    type: z.int(),
    video: videoView,
  })
  .meta({ id: 'VideoBlacklist' })

export const toVideoBlockView = async (
  { block, video }: VideoBlockRow,
  { here, tokenOf }: { here: Here; tokenOf: TokenOf },
): Promise<z.infer<typeof videoBlockView>> => ({
  id: block.id,
  createdAt: new Date(block.created_at).toISOString(),
  updatedAt: new Date(block.updated_at).toISOString(),
  reason: block.reason,
  unfederated: block.unfederated,
  type: block.type,
  video: await toVideoView(video, { here, include: 0, tokenOf }),
})
