// Tokens for the files of one video, for players that cannot send headers. A token stands for its requester, and each request checks what
// that user may see now: a block or a removed password revokes it at once.

import type { Config } from '../../../config/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Database } from '../../../platform/database/index.ts'
import type { SignedTokens } from '../../../platform/signed-tokens.ts'
import { DomainError } from '../../runtime/index.ts'
import type { Viewer } from '../../session/index.ts'
import type { UserRole } from '../../user/index.ts'
import { assertMaySee, type GuardedVideo } from '../video.policy.ts'

const PURPOSE = 'video-file'
const NOBODY = 0

interface Holder {
  account_id: number | null
  role: UserRole | null
  password: boolean
}

export type FileTokens = ReturnType<typeof makeFileTokens>

export function makeFileTokens(deps: { db: Pick<Database, 'query'>; signedTokens: SignedTokens; clock: Clock; config: () => Config }) {
  const { db, signedTokens, clock, config } = deps

  return {
    /** Issues a token. The caller has checked that the requester may see the video. */
    async issue(ask: {
      video: { id: number; uuid: string }
      userId: number | undefined
      password: string | undefined
    }): Promise<{ token: string; expires: Date }> {
      const { video, userId = NOBODY, password } = ask
      const claims = { video: video.uuid, user: userId, password: await passwordId(video.id, password) }
      const lifetimeMs = config().vireo.lifetimes.video_file_token
      const expires = new Date(clock.now().getTime() + lifetimeMs)
      return { token: await signedTokens.sign(PURPOSE, claims, lifetimeMs), expires }
    },

    /** Returns the holder of a token. Throws `forbidden` unless the token is for this video and its holder may still see it. */
    async holder(token: string, video: GuardedVideo & { id: number; uuid: string }): Promise<Viewer> {
      const claims = await signedTokens.read(PURPOSE, token)
      if (!claims || claims.video !== video.uuid) throw refused()
      const { viewer, password } = await holderOf(video.id, Number(claims.user), Number(claims.password))
      try {
        assertMaySee(video, viewer, { password: password ? 'right' : 'none' })
      } catch (error) {
        throw error instanceof DomainError ? refused(error) : error
      }
      return viewer
    },
  }

  async function passwordId(videoId: number, password: string | undefined): Promise<number> {
    if (password === undefined) return NOBODY
    const [row] = await db.query<{ id: number }>(
      'select id from video_password where video_id = $1 and normalize(password) = normalize($2) order by id limit 1',
      [videoId, password],
    )
    return row?.id ?? NOBODY
  }

  async function holderOf(videoId: number, userId: number, password: number): Promise<{ viewer: Viewer; password: boolean }> {
    const [row] = await db.query<Holder>(
      `select a.id as account_id, u.role,
         exists (select 1 from video_password p where p.id = $3 and p.video_id = $1) as password
       from (select $2::integer as id) asked
         left join users u on u.id = asked.id and not u.blocked left join account a on a.user_id = u.id`,
      [videoId, userId, password],
    )
    const known = row && row.account_id !== null && row.role !== null
    return {
      viewer: known ? { accountId: Number(row.account_id), role: row.role as UserRole } : null,
      password: row?.password ?? false,
    }
  }
}

const refused = (cause?: Error): DomainError =>
  new DomainError('forbidden', 'The file token is not valid.', { ...(cause ? { cause } : {}) })
