// What reacts to all the others: archives of users, notifications, removals, caches. After federation, whose reactions to the removal
// of an account or channel must run first.

import { makeChannelRemoval } from '../../actors/channel-removal/index.ts'
import { makeInstanceFacts } from '../../actors/instance/index.ts'
import { makeJobQueue, refuseNameless } from '../../actors/job-queue/index.ts'
import { makeNotifications, makeNotify, makePushes, notifySubscribers, RULES, reactByRules } from '../../actors/notification/index.ts'
import { makeRemoteActorRemoval } from '../../actors/remote-actor-removal/index.ts'
import { makeArchiveLinks, makeUserExports, runExports } from '../../actors/user-export/index.ts'
import { makeUserRemoval } from '../../actors/user-removal/index.ts'
import { pushWords } from '../../http/pages/bodies/notifications.ts'
import { makeVideoResponseCache } from '../../http/videos/response-cache.ts'
import { languageOfTag } from '../../platform/languages.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { REQUIRED } from '../../required.ts'
import type { Ground } from '../foundation.ts'
import { composeUserImports } from '../user-imports.ts'
import type { Peers } from './peers.ts'
import type { People } from './people.ts'
import type { PluginParts } from './plugins.ts'
import type { Videos } from './videos.ts'

export function makeReactions(below: Ground & People & Videos & PluginParts & Peers & { passwords: Passwords }) {
  const { bus, closers, comments, deps, federation, http, media, ratings, remotePlaylists, remoteVideos, runtime, shares } = below
  const { clock, config } = deps
  const userExports = { ...makeUserExports(media), ...makeArchiveLinks({ ...deps, signedTokens: below.signedTokens }) }
  runExports({ ...media, documents: federation.archiveDocuments })
  composeUserImports({ ...below, ...media, resolvePasted: federation.resolvePasted })
  const notify = makeNotify(deps)
  notifySubscribers({ ...deps, notify })
  reactByRules({ registry: runtime.registry, notify }, RULES)
  const notifications = makeNotifications(deps)
  makeUserRemoval({ ...below, ...deps })
  makeChannelRemoval({ ...below, ...deps })
  const removers = { videos: remoteVideos, playlists: remotePlaylists, comments, ratings, shares }
  makeRemoteActorRemoval({ ...deps, remoteActors: below.remoteActors, removers })
  const facts = makeInstanceFacts({ ...deps, bus, actorId: below.instanceActorId })
  closers.push(async () => facts.close())
  const answers = makeVideoResponseCache({ config, bus, clock })
  closers.push(async () => answers.close())
  const pushes = makePushes({
    ...deps,
    http,
    words: (row, language) => ({ title: config().instance.name, ...pushWords(row, languageOfTag(language)) }),
  })
  below.source.onChange(() => {
    runtime.adapt()
    federation.forgetDocuments()
    answers.clear()
  })
  runtime.registry.seal(REQUIRED)
  refuseNameless(runtime.registry)
  return {
    answers,
    facts,
    jobQueue: makeJobQueue({ ...deps, incoming: federation.incoming, runnerJobs: below.runnerJobs }),
    notifications,
    pushes,
    userExports,
  }
}
