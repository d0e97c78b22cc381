// People: the instance and its settings, users with their logins and mails, follows, blocks and reports.

import { makeAbuses } from '../../actors/abuse/index.ts'
import { pruneAuditLog } from '../../actors/audit/index.ts'
import { makeAutomaticTags } from '../../actors/automatic-tag/index.ts'
import { endBlockedFollows, makeBlocklist } from '../../actors/blocklist/index.ts'
import { makeContact } from '../../actors/contact/index.ts'
import { makeExternalLogins } from '../../actors/external-login/index.ts'
import { followBack, maintainFollowCounts, makeFollows } from '../../actors/follow/index.ts'
import { makeHomepage, makeInstance } from '../../actors/instance/index.ts'
import { makeMailLinks, sendMails } from '../../actors/mail/index.ts'
import { makeMailBatches } from '../../actors/notification/index.ts'
import { makeRegistrations } from '../../actors/registration/index.ts'
import { makeGuessLimits, pruneJobHistory } from '../../actors/runtime/index.ts'
import { makeRuntimeConfig } from '../../actors/runtime-config/index.ts'
import { makeSessions } from '../../actors/session/index.ts'
import { makeTwoFactor } from '../../actors/two-factor/index.ts'
import { makeEmailVerification, makeManageUsers, makePasswordReset, makeUsers } from '../../actors/user/index.ts'
import { makeFindLists } from '../../actors/watched-words/index.ts'
import { makeGuardedFetch } from '../../platform/fetch/index.ts'
import type { GenerateKeys } from '../../platform/keys.ts'
import { makeLimitStore } from '../../platform/limit-stores.ts'
import { tagged } from '../../platform/logger.ts'
import { makeMailer } from '../../platform/mailer.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { makeSignedTokens } from '../../platform/signed-tokens.ts'
import type { Ground } from '../foundation.ts'

export type People = ReturnType<typeof makePeople>

export function makePeople(
  ground: Ground & {
    passwords: Passwords
    generateKeys: GenerateKeys | undefined
    plugins: Parameters<typeof makeExternalLogins>[0]['plugins']
  },
) {
  const { bus, closers, deps, generateKeys, limits, passwords, plugins, prefix, runtime, source, stored, userAgent } = ground
  const { clock, config, logger } = deps
  const instance = makeInstance({ ...deps, generateKeys })
  const instanceActorId = instance.actorId
  const runtimeConfig = makeRuntimeConfig({ ...deps, logger: tagged(logger, 'config'), source, stored, bus, instanceActorId })
  closers.push(async () => runtimeConfig.close())
  const users = { ...makeUsers({ ...deps, passwords, generateKeys }), ...makeManageUsers({ ...deps, passwords }) }
  const guesses = makeGuessLimits({ store: makeLimitStore({ redis: limits, prefix: `${prefix}:`, clock }), config })
  // For addresses that the administrator has configured, such as a login provider in the same network.
  const ownFetch = makeGuardedFetch({
    allowHttp: true,
    allowPrivateAddresses: true,
    timeoutMs: config().vireo.federation.fetch.timeout,
    maxRedirects: config().vireo.federation.fetch.max_redirects,
    userAgent,
    logger,
  })
  closers.push(() => ownFetch.close())
  const externalLogins = makeExternalLogins({ ...deps, users, passwords, ownFetch, plugins })
  const signedTokens = makeSignedTokens(deps)
  const links = makeMailLinks({ ...deps, signedTokens })
  sendMails({
    ...deps,
    logger: tagged(logger, 'mail'),
    links,
    batches: makeMailBatches(deps),
    mailer: makeMailer({ settings: () => config().smtp }),
  })
  const follows = makeFollows(deps)
  maintainFollowCounts(runtime.registry)
  endBlockedFollows({ ...deps, follows })
  followBack({ ...deps, instanceActorId })
  pruneJobHistory(deps)
  pruneAuditLog(deps)
  return {
    abuses: makeAbuses(deps),
    automaticTags: makeAutomaticTags({ ...deps, findLists: makeFindLists(deps) }),
    blocklist: makeBlocklist(deps),
    contact: makeContact(deps),
    emailVerification: makeEmailVerification({ ...deps, links }),
    externalLogins,
    follows,
    guesses,
    homepage: makeHomepage(deps),
    instance,
    instanceActorId,
    ownFetch,
    passwordReset: makePasswordReset({ ...deps, links, passwords }),
    registrations: makeRegistrations({ ...deps, users, passwords, links }),
    runtimeConfig,
    sessions: makeSessions({ ...deps, passwords, guesses, bus, external: externalLogins }),
    signedTokens,
    twoFactor: makeTwoFactor({ ...deps, passwords, guesses }),
    users,
  }
}
