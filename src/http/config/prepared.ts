// ServerConfig as bytes, built once for all requesters, until the configuration or the facts change.

import { isDeepStrictEqual } from 'node:util'
import type { InstanceFacts, InstanceFactsReader } from '../../actors/instance/index.ts'
import type { ActivePlugins, PluginRow } from '../../actors/plugin/index.ts'
import { closedBy, isNetworkAllowed } from '../../actors/registration/index.ts'
import type { Config } from '../../config/index.ts'
import { etagOf } from '../plugins/conditional.ts'
import { type Software, toServerConfig } from './server-config.ts'

export interface PreparedConfig {
  body: Buffer
  etag: string
}

/** For an IP address, as registration may be closed to some networks. Returns the same object while nothing changes. */
export type ReadServerConfig = (ip: string) => Promise<PreparedConfig>

export function makeServerConfig(deps: {
  config: () => Config
  facts: Pick<InstanceFactsReader, 'recent'>
  activePlugins: Pick<ActivePlugins, 'recent'>
  software: Software
}): ReadServerConfig {
  const { config, facts, activePlugins, software } = deps
  let made: { config: Config; facts: InstanceFacts; plugins: readonly PluginRow[]; answers: Map<string, PreparedConfig> } | undefined

  return async (ip) => {
    const now = config()
    const [known, plugins] = await Promise.all([facts.recent(), activePlugins.recent()])
    const allowedForCurrentIP = isNetworkAllowed(ip, now.signup.filters.cidr)
    // The number of users matters only for whether there is room for one more.
    if (made?.config !== now || !sameImages(made.facts, known) || !samePlugins(made.plugins, plugins)) {
      made = { config: now, facts: known, plugins, answers: new Map() }
    }
    const { answers } = made
    const signup = {
      allowed: closedBy(now, known.users, now.signup.requires_approval ? 'request' : 'direct') === undefined,
      allowedForCurrentIP,
    }
    const key = `${signup.allowed} ${allowedForCurrentIP} ${known.homepage}`
    const ready = answers.get(key)
    if (ready) return ready
    const body = Buffer.from(JSON.stringify(toServerConfig(now, known, plugins, software, signup)))
    const prepared = { body, etag: etagOf(body) }
    answers.set(key, prepared)
    return prepared
  }
}

const sameImages = (a: InstanceFacts, b: InstanceFacts): boolean =>
  a === b || isDeepStrictEqual([a.avatars, a.banners], [b.avatars, b.banners])

const samePlugins = (a: readonly PluginRow[], b: readonly PluginRow[]): boolean => a === b || isDeepStrictEqual(a, b)
