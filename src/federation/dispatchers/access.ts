// Which video an address names, and whether other servers may read it.

import { DomainError, notFound } from '../../actors/runtime/index.ts'
import { isBegun, isOpen, type Openness, type Video, videoPrivacies } from '../../actors/video/index.ts'
import type { Columns, Sql } from '../../platform/database/index.ts'
import { fromShortUuid, isUuid } from '../../platform/ids.ts'

export type VideoKey = { id: number } | { uuid: string }

export type VideoAccess = Openness & Columns<Video, 'id' | 'uuid' | 'url' | 'remote'>

const MAX_ID = 2_147_483_647

/** The key of a video in a path: a UUID, its short form, or its row id. */
export function videoKeyOf(segment: string): VideoKey | undefined {
  if (isUuid(segment)) return { uuid: segment.toLowerCase() }
  const uuid = fromShortUuid(segment)
  if (uuid !== undefined) return { uuid }
  const id = /^[1-9]\d{0,9}$/.test(segment) ? Number(segment) : MAX_ID + 1
  return id <= MAX_ID ? { id } : undefined
}

/** The video, if other servers may read it; otherwise refusals like in the REST API. One statement. */
export async function accessibleVideo(query: Sql, key: VideoKey): Promise<VideoAccess> {
  const [condition, value] = 'id' in key ? ['id = $1', key.id] : ['uuid = $1', key.uuid]
  const [video] = await query<VideoAccess>(
    `select v.id, v.uuid, v.url, v.privacy, v.blocked, v.remote from video v
     where v.${condition} and ${isBegun('v')} and ${isNotUnfederated('v')}`,
    [value],
  )
  if (!video) throw notFound('Video not found')
  assertOpen(video, { byId: 'id' in key })
  return video
}

/** SQL: true unless a block unfederated the video: other servers are told that it is gone then. */
export const isNotUnfederated = (video: string): string =>
  `(not ${video}.blocked or not exists (select 1 from video_block b where b.video_id = ${video}.id and b.unfederated))`

/** Throws unless everybody with the link may see it. A link by id does not show unlisted videos, since ids can be enumerated. */
export function assertOpen(video: Openness, { byId = false }: { byId?: boolean } = {}): void {
  const { privacy, blocked } = video
  if (privacy === videoPrivacies.passwordProtected && !blocked) {
    throw new DomainError('forbidden', 'Please provide a password to access this password protected video', {
      code: 'video_requires_password',
    })
  }
  if (!isOpen(video) || (byId && privacy !== videoPrivacies.public)) {
    throw new DomainError('unauthenticated', 'Token is invalid', { code: 'unauthorized_request' })
  }
}
