// A copy that another server holds of a local video: taken note of, passed on to those who follow the video, and
// forgotten when its holder takes it back. What it names is for players; nothing of it is fetched.

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
