// Ownership offers as clients of the API read them.

import { z } from 'zod'
import type { OwnershipChangeRow } from '../../actors/ownership-change/index.ts'
import { accountView, type Here, toAccountView } from '../videos/actor.view.ts'
import type { TokenOf } from '../videos/address-token.ts'
import { toVideoView, videoView } from '../videos/video.view.ts'

/** `VideoChangeOwnershipStatus` of the contract. */
const STATUS = { waiting: 'WAITING', accepted: 'ACCEPTED', refused: 'REFUSED' } as const

export const ownershipChangeView = z
  .object({
    id: z.int(),
    status: z.enum(['WAITING', 'ACCEPTED', 'REFUSED']),
    initiatorAccount: accountView,
    nextOwnerAccount: accountView,
    video: videoView,
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'VideoChangeOwnership' })

export const toOwnershipChangeView = async (
  { change, video }: OwnershipChangeRow,
  { here, tokenOf }: { here: Here; tokenOf: TokenOf },
): Promise<z.infer<typeof ownershipChangeView>> => ({
  id: change.id,
  status: STATUS[change.state],
  initiatorAccount: toAccountView(change.initiator, here),
  nextOwnerAccount: toAccountView(change.receiver, here),
  video: await toVideoView(video, { here, include: 0, tokenOf }),
  createdAt: new Date(change.created_at).toISOString(),
})
