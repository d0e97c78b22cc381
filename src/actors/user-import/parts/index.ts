// The importers of all kinds of data, in the order in which they run: referenced objects first.

import { guarded } from '../guard.ts'
import type { PartImporter } from '../part-importer.ts'
import { makeReferences } from '../references.ts'
import { makeAccountImporter } from './account.ts'
import { makeTagPoliciesImporter } from './automatic-tag-policies.ts'
import { makeBlocklistImporter } from './blocklist.ts'
import { makeChannelsImporter } from './channels.ts'
import type { Deps, PartImporterDeps } from './deps.ts'
import { makeFollowingImporter } from './following.ts'
import { makeRatingsImporter } from './ratings.ts'
import { makeUserSettingsImporter } from './user-settings.ts'
import { makeHistoryImporter } from './video-history.ts'
import { makePlaylistsImporter } from './video-playlists.ts'
import { makeVideosImporter } from './videos.ts'
import { makeWatchedWordsImporter } from './watched-words-lists.ts'

export type { PartImporterDeps } from './deps.ts'

export function makePartImporters(options: PartImporterDeps): PartImporter[] {
  const deps: Deps = { ...options, references: makeReferences(options) }
  const { logger } = deps
  return [
    guarded(makeAccountImporter(deps), logger),
    guarded(makeUserSettingsImporter(deps), logger),
    guarded(makeChannelsImporter(deps), logger),
    guarded(makeWatchedWordsImporter(deps), logger),
    guarded(makeTagPoliciesImporter(deps), logger),
    guarded(makeBlocklistImporter(deps), logger),
    guarded(makeFollowingImporter(deps), logger),
    guarded(makeVideosImporter(deps), logger),
    guarded(makePlaylistsImporter(deps), logger),
    guarded(makeRatingsImporter('likes', deps), logger),
    guarded(makeRatingsImporter('dislikes', deps), logger),
    guarded(makeHistoryImporter(deps), logger),
  ]
}
