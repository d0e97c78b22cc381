// Shares: actors that announced a video. Stored once per actor and video.

import { type ActorDeps, DomainError } from '../runtime/index.ts'
import { relist } from '../video/index.ts'

export type Shares = ReturnType<typeof makeShares>

export function makeShares(deps: ActorDeps) {
  const { tell } = deps
  return {
    /** A remote actor announced a video. Idempotent; a new URL replaces the old one. */
    async receiveShare({ videoId, actorId, url }: { videoId: number; actorId: number; url: string }): Promise<void> {
      await tell.create(async (unit) => {
        const isNew = await unit.query(
          `insert into share (video_id, actor_id, url) select v.id, $2, $3 from video v where v.id = $1 for key share
           on conflict do nothing returning id`,
          [videoId, actorId, url],
        )
        if (isNew.length > 0) return await relist(unit.query, [videoId])
        const [clash] = await unit.query(
          'select 1 from share where url_hash = md5($1)::uuid and (video_id, actor_id) is distinct from ($2, $3)',
          [url, videoId, actorId],
        )
        if (clash) throw new DomainError('forbidden', 'This address belongs to another share.')
        await unit.query('update share set url = $3, updated_at = $4 where video_id = $1 and actor_id = $2 and url <> $3', [
          videoId,
          actorId,
          url,
          unit.now,
        ])
      })
    },
    /** With `only`: not if another share has replaced it. */
    async removeShare({ videoId, actorId, only }: { videoId: number; actorId: number; only?: { url: string } }): Promise<void> {
      await tell.create(async (unit) => {
        await unit.query('delete from share where video_id = $1 and actor_id = $2 and ($3::text is null or url = $3)', [
          videoId,
          actorId,
          only?.url ?? null,
        ])
        await relist(unit.query, [videoId])
      })
    },
  }
}
