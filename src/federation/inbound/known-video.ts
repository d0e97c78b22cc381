// The video that an activity is about, by its address.

import { DomainError } from '../../actors/runtime/index.ts'
import type { InboundContext } from './context.ts'

/** Throws DomainError `not_found` for a video that we do not have. */
export async function knownVideo(
  url: string,
  { db, objectAt }: Pick<InboundContext, 'db' | 'objectAt'>,
): Promise<{ id: number; remote: boolean }> {
  const find = async (address: string) =>
    await db.query<{ id: number; remote: boolean }>(
      "select id, remote from video where url_hash = md5($1)::uuid and url = $1 and state <> 'removed'",
      [address],
    )
  const [video] = await find(url)
  if (video) return video
  const id = await objectAt(url)
  const [shown] = id === url ? [] : await find(id)
  if (!shown) throw new DomainError('not_found', `${url} is no video that we have.`)
  return shown
}
