// Short-lived addresses for the download of archives, since browsers send no token with a download. An address stands for its requester,
// and each request checks what that user may have now: a blocked user gets nothing.

import type { SignedTokens } from '../../platform/signed-tokens.ts'
import { type ActorDeps, DomainError } from '../runtime/index.ts'
import { mayManage } from './user-export.policy.ts'
import { findManager } from './user-export.queries.ts'

export interface ArchiveLinks {
  /** Valid for `vireo.lifetimes.user_export_download_token`, for this archive alone and for a user who may have it. */
  addressOf(filename: string, by: { userId: number }): Promise<string>
  /** Throws `forbidden` unless the token is for this archive, not expired, and issued to a user who may still have it. */
  check(archive: { filename: string; userId: number }, token: string): Promise<void>
}

const PURPOSE = 'user-export'
const NOBODY = 0

export function makeArchiveLinks(deps: Pick<ActorDeps, 'config' | 'db' | 'urls'> & { signedTokens: SignedTokens }): ArchiveLinks {
  const { config, db, urls, signedTokens } = deps
  return {
    async addressOf(filename, { userId }) {
      const lifetime = config().vireo.lifetimes.user_export_download_token
      const token = await signedTokens.sign(PURPOSE, { archive: filename, user: userId }, lifetime)
      return `${urls.origin}/download/user-exports/${filename}?jwt=${token}`
    },
    async check({ filename, userId }, token) {
      const claims = await signedTokens.read(PURPOSE, token)
      const by = claims?.archive === filename ? await findManager(db, Number(claims.user ?? NOBODY)) : undefined
      if (!by || !mayManage(by, userId)) {
        throw new DomainError('forbidden', 'The link to this archive is not valid any more.')
      }
    },
  }
}
