// Addresses under which archives are downloaded, by whoever has them and for a short time: browsers send no token with a download.

import type { SignedTokens } from '../../platform/signed-tokens.ts'
import { type ActorDeps, DomainError } from '../runtime/index.ts'

export interface ArchiveLinks {
  /** For `vireo.lifetimes.user_export_download_token`, and of this archive alone. */
  addressOf(filename: string): Promise<string>
  /** Throws `forbidden` unless the token is of this archive, and not too old. */
  check(filename: string, token: string): Promise<void>
}

const PURPOSE = 'user-export'

export function makeArchiveLinks(
  deps: Pick<ActorDeps, 'config' | 'urls'> & { signedTokens: SignedTokens },
): ArchiveLinks {
  const { config, urls, signedTokens } = deps
  return {
    async addressOf(filename) {
      const lifetime = config().vireo.lifetimes.user_export_download_token
      const token = await signedTokens.sign(PURPOSE, { archive: filename }, lifetime)
      return `${urls.origin}/download/user-exports/${filename}?jwt=${token}`
    },
    async check(filename, token) {
      const claims = await signedTokens.read(PURPOSE, token)
      if (claims?.archive !== filename) {
        throw new DomainError('forbidden', 'The link to this archive is not valid any more.')
      }
    },
  }
}
