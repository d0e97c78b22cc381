// The import of users' archives, with the commands for each kind of data.

import { makeCommentTagPolicies } from '../actors/automatic-tag/index.ts'
import type { Follows } from '../actors/follow/index.ts'
import { makeNotificationSettings } from '../actors/notification-setting/index.ts'
import { makePlaylistElements } from '../actors/playlist/index.ts'
import type { GuessLimits } from '../actors/runtime/index.ts'
import { makeSubscriptions } from '../actors/subscription/index.ts'
import { makeUpdateMe } from '../actors/user/index.ts'
import { makePartImporters, type PartImporter, type PartImporterDeps } from '../actors/user-archive/index.ts'
import { runUserImports } from '../actors/user-import/index.ts'
import { makeWatchedWords } from '../actors/watched-words/index.ts'
import type { FederationPart } from '../federation/index.ts'
import { isHost } from '../http/plugins/handles.ts'
import type { Passwords } from '../platform/passwords.ts'
import type { Media } from './media.ts'

/** Dependencies shared with other parts. */
type Shared = Pick<
  PartImporterDeps,
  'actorImages' | 'blocklist' | 'captions' | 'channels' | 'createVideo' | 'history' | 'playlists' | 'ratings'
>

export interface UserImportParts extends Media, Shared {
  follows: Follows
  passwords: Passwords
  guesses: GuessLimits
  resolvePasted: Pick<FederationPart['resolvePasted'], 'video' | 'account'>
}

export const partImportersOf = (parts: UserImportParts): PartImporter[] =>
  makePartImporters({
    ...parts,
    resolveRemote: parts.resolvePasted,
    isHost: (text) => isHost(text, parts.config()),
    notificationSettings: makeNotificationSettings(parts),
    playlistElements: makePlaylistElements(parts),
    subscriptions: makeSubscriptions(parts),
    tagPolicies: makeCommentTagPolicies(parts),
    updateMe: makeUpdateMe(parts),
    watchedWords: makeWatchedWords(parts),
  })

/** Registers the job. */
export function composeUserImports(parts: UserImportParts): void {
  runUserImports({ ...parts, partImporters: partImportersOf(parts) })
}
