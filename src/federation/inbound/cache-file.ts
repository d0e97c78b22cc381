// A copy of a local video on another server: stored, forwarded to the followers of the video, and deleted when its holder withdraws it. Its
// addresses are for players; this server fetches nothing of it.

import type { Copied } from '../../actors/redundancy/index.ts'
import type { CacheFileDocument } from '../wire/index.ts'
import type { Inbound, InboundContext } from './context.ts'
import { forward } from './forward.ts'

export async function receiveCacheFile(document: CacheFileDocument, inbound: Inbound, context: InboundContext): Promise<void> {
  await context.redundancies.receive({
    actorId: inbound.actor.id,
    url: document.id,
    videoUrl: await context.objectAt(document.video),
    copied: copiedOf(document),
    fileUrl: document.copy.url,
    expiresAt: document.expiresAt,
    passOn: forward(inbound, context),
  })
}

/** By the address of the copy. */
export async function withdrawCacheFile(url: string, inbound: Inbound, context: InboundContext): Promise<void> {
  await context.redundancies.withdraw({ actorId: inbound.actor.id, url, passOn: forward(inbound, context) })
}

function copiedOf({ copy }: CacheFileDocument): Copied {
  return copy.kind === 'playlist' ? { kind: 'playlist' } : { kind: 'file', resolution: copy.resolution, fps: copy.fps }
}
