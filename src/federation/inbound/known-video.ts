// The video that an activity is about, by its address.

import { DomainError } from '../../actors/runtime/index.ts'
import { findVideoByUrl } from '../../actors/video/index.ts'
import type { InboundContext } from './context.ts'

/** Throws DomainError `not_found` for an unknown video. */
export async function knownVideo(
  url: string,
  { db, objectAt }: Pick<InboundContext, 'db' | 'objectAt'>,
): Promise<{ id: number; remote: boolean }> {
  const video = await findVideoByUrl(db, url)
  if (video) return video
  const id = await objectAt(url)
  const shown = id === url ? undefined : await findVideoByUrl(db, id)
  if (!shown) throw new DomainError('not_found', `${url} is no video that we have.`)
  return shown
}
