// Plugins, each in a process of its own, and the fetcher for addresses that strangers name.

import {
  lookForPluginVersions,
  makeActivePlugins,
  makeAnswerPlugin,
  makePluginAssets,
  makePluginCalls,
  makePluginHosts,
  makePluginRegistry,
  makePluginSockets,
  makePlugins,
  sendPluginActions,
} from '../../actors/plugin/index.ts'
import { ownLabels, privacyLabels } from '../../actors/video/index.ts'
import { fetchUnblocked } from '../../federation/index.ts'
import { playlistPrivacyLabels } from '../../http/video-playlists/views.ts'
import { makeGuardedFetch } from '../../platform/fetch/index.ts'
import { tagged } from '../../platform/logger.ts'
import type { Passwords } from '../../platform/passwords.ts'
import type { Ground } from '../foundation.ts'
import type { People } from './people.ts'

export type PluginParts = ReturnType<typeof makePluginParts>

export function makePluginParts(below: Ground & People & { passwords: Passwords }) {
  const { bus, closers, db, deps, externalLogins, guesses, ownFetch, passwords, userAgent } = below
  const { config, logger } = deps
  // All requests to other servers use this fetcher: no private addresses, no blocked servers.
  const http = fetchUnblocked(
    makeGuardedFetch({
      allowHttp: config().vireo.federation.allow_http,
      allowPrivateAddresses: config().vireo.federation.allow_private_addresses,
      timeoutMs: config().vireo.federation.fetch.timeout,
      maxRedirects: config().vireo.federation.fetch.max_redirects,
      userAgent,
      logger,
    }),
    db,
  )
  closers.push(() => http.close())
  const pluginRegistry = makePluginRegistry({ http, config })
  lookForPluginVersions({ ...deps, packages: pluginRegistry })
  const plugins = makePlugins({ ...deps, packages: pluginRegistry, passwords, guesses })
  const activePlugins = makeActivePlugins({ ...deps, bus })
  closers.push(async () => activePlugins.close())
  const shared = { ...deps, logger: tagged(logger, 'plugin'), active: activePlugins, plugins }
  const answer = makeAnswerPlugin({ ...shared, externalLogin: externalLogins.ofPlugin })
  const labels = { ...ownLabels, privacy: privacyLabels, playlistPrivacy: playlistPrivacyLabels }
  const pluginHosts = makePluginHosts({ ...shared, answer, ownFetch, labels })
  sendPluginActions({ ...shared, hosts: pluginHosts })
  return {
    activePlugins,
    http,
    pluginAssets: makePluginAssets(shared),
    pluginCalls: makePluginCalls({ ...shared, hosts: pluginHosts }),
    pluginHosts,
    pluginRegistry,
    plugins,
    pluginSockets: makePluginSockets({ ...shared, hosts: pluginHosts }),
  }
}
