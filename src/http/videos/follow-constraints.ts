// Access to remote videos and actors that the instance does not follow: controlled by `search.remote_uri`.

import { findUnfollowedActor, mayAskRemote, unfollowed, type VideoListScope } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'

export interface ConstraintDeps {
  db: Pick<Database, 'query'>
  config: () => Config
}

/** True if visitors, or users, may request what the instance does not follow. */
export const seesStrangers = ({ config }: Pick<ConstraintDeps, 'config'>, isUser: boolean): boolean =>
  mayAskRemote(isUser, config().search.remote_uri)

/** Throws `forbidden` for content of a remote account or channel that the instance does not follow. */
export async function assertActorFollowed(
  deps: ConstraintDeps,
  isUser: boolean,
  { originUrl, ...of }: { accountId?: number; channelId?: number; originUrl?: string },
): Promise<void> {
  const url = seesStrangers(deps, isUser) ? undefined : await findUnfollowedActor(deps.db, of)
  if (url !== undefined) throw unfollowed(originUrl ?? url)
}

/** The same for the scope of a list. */
export async function assertScopeFollowed(deps: ConstraintDeps, isUser: boolean, scope: VideoListScope): Promise<void> {
  if (scope.of === 'account' || scope.of === 'channel') await assertActorFollowed(deps, isUser, scope)
}
