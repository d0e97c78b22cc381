// Makes all parts of a server, floor by floor: each depends on those above it in this list. Nothing runs yet.

import type { LoadedConfig } from '../config/index.ts'
import type { AppOptions } from '../http/app.ts'
import type { Examine } from '../http/debug/check-up.ts'
import type { Ffmpeg } from '../media/index.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import type { Health } from '../platform/health.ts'
import type { GenerateKeys } from '../platform/keys.ts'
import type { Logger } from '../platform/logger.ts'
import { makePasswords, type Passwords } from '../platform/passwords.ts'
import type { Role } from '../runtime-settings.ts'
import { VERSION } from '../version.ts'
import { makePeers } from './floors/peers.ts'
import { makePeople } from './floors/people.ts'
import { makePluginParts, type PluginParts } from './floors/plugins.ts'
import { makeReactions } from './floors/reactions.ts'
import { makeVideos } from './floors/videos.ts'
import { openFoundation } from './foundation.ts'

export interface ServerOptions {
  loaded: LoadedConfig
  logger: Logger
  roles: readonly Role[]
  clock?: Clock
  /** Validates every response with its schema (tests). */
  checkResponses?: boolean
  /** Called for every route of the HTTP application (tests). */
  onRoute?: AppOptions['onRoute']
  /** Replacements for parts that are slow to make (tests). */
  instead?: { ffmpeg?: Ffmpeg; generateKeys?: GenerateKeys; passwords?: Passwords }
  /** Runs `vireo doctor`. Without it administrators have no check-up over the API. */
  examine?: Examine
  /** Password of the user `root` on the first start; by default a random one. */
  rootPassword?: string
  /** Called with the first start's credentials as soon as they are stored, whatever happens afterwards. */
  onFirstStart?: (credentials: Credentials) => void
}

export interface Credentials {
  clientId: string
  clientSecret: string
  username: string
  password: string
}
export type Parts = Awaited<ReturnType<typeof makeParts>>

/** Throws an Error with a one-line message if a required service is unavailable. `closers` close what was opened, the last one first. */
export async function makeParts(options: ServerOptions, closers: (() => Promise<void>)[], health: Health) {
  const { loaded, logger, roles, clock = systemClock, instead = {} } = options
  const { ffmpeg: replacedFfmpeg, generateKeys, passwords = makePasswords() } = instead
  const foundation = await openFoundation({ loaded, logger, roles, clock }, closers, health)
  const ground = { ...foundation, closers, userAgent: `Vireo/${VERSION} (+${loaded.publicUrl})`, generateKeys, passwords }
  const people = makePeople({ ...ground, plugins: () => plugins.pluginCalls })
  const videos = await makeVideos({ ...ground, ...people, replacedFfmpeg })
  const plugins: PluginParts = makePluginParts({ ...ground, ...people })
  const peers = makePeers({ ...ground, ...people, ...videos, ...plugins })
  const reactions = makeReactions({ ...ground, ...people, ...videos, ...plugins, ...peers })
  return { ...foundation, health, passwords, ...people, ...videos, ...plugins, ...peers, ...reactions }
}
