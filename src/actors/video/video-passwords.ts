// The passwords of a password-protected video. Any of them opens it, and there is always at least one.

import type { Columns, Database } from '../../platform/database/index.ts'
import { type ActorDeps, DomainError, notFound, type Unit } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { dropPasswords, insertPasswords, refuseBadPasswords } from './password-rows.ts'
import { assertChangeable } from './update-video.ts'
import { Video, type VideoPassword, videoPrivacies } from './video.entity.ts'

export type VideoPasswordRow = Columns<typeof VideoPassword, 'id' | 'password' | 'videoId' | 'createdAt' | 'updatedAt'>

export type VideoPasswords = ReturnType<typeof makeVideoPasswords>

export function makeVideoPasswords({ tell }: Pick<ActorDeps, 'tell'>) {
  const change = (videoId: number, by: NonNullable<Viewer>, apply: (unit: Unit) => Promise<void>): Promise<void> =>
    tell({ aggregate: 'video', id: videoId }, async (unit) => {
      const video = await unit.em.findOneOrFail(Video, videoId)
      if (video.state === 'removed') throw notFound('Video not found')
      await assertChangeable(unit, video, by, 'UPDATE_ANY_VIDEO')
      refuseUnprotected(video)
      await apply(unit)
    })

  return {
    /**
     * Replaces all passwords. Throws `not_found`, `forbidden`, and `invalid` unless the video is password-protected and the passwords are
     * valid (1 to 100, distinct, of 2 to 99 characters).
     */
    replace(videoId: number, by: NonNullable<Viewer>, passwords: readonly string[]): Promise<void> {
      return change(videoId, by, async (unit) => {
        refuseBadPasswords(passwords)
        await dropPasswords(unit, videoId)
        await insertPasswords(unit, videoId, passwords)
      })
    },

    /** Removes one. Throws like `replace`, and `invalid` for the last one. */
    remove(videoId: number, by: NonNullable<Viewer>, passwordId: number): Promise<void> {
      return change(videoId, by, async (unit) => {
        const rows = await unit.query<Columns<typeof VideoPassword, 'id'>>('select id from video_password where video_id = $1', [videoId])
        if (!rows.some(({ id }) => id === passwordId)) throw notFound('Video password not found')
        if (rows.length === 1) throw new DomainError('invalid', 'The last password of a protected video has to stay.')
        await unit.query('delete from video_password where id = $1', [passwordId])
      })
    },
  }
}

/** Throws `invalid` unless the privacy of the video is by password. */
export function refuseUnprotected({ privacy }: { privacy: number }): void {
  if (privacy !== videoPrivacies.passwordProtected) {
    throw new DomainError('invalid', 'This video is not protected by passwords.')
  }
}

/** A page of the passwords, with their total. */
export async function listPasswords(
  db: Pick<Database, 'query'>,
  page: { videoId: number; start: number; count: number; descending: boolean },
): Promise<{ total: number; rows: VideoPasswordRow[] }> {
  const { videoId, start, count, descending } = page
  const rows = await db.query<VideoPasswordRow>(
    `select id, password, video_id, created_at, updated_at from video_password where video_id = $1
     order by created_at ${descending ? 'desc' : 'asc'}, id limit $2 offset $3`,
    [videoId, count, start],
  )
  const [all] = await db.query<{ total: number }>('select count(*)::int as total from video_password where video_id = $1', [videoId])
  return { total: all?.total ?? 0, rows }
}
