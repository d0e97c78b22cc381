// The downloads of imports, behind one guard: their fetcher allows plain http too, and uses the operator's proxies for imports.

import { isIP } from 'node:net'
import type { Config } from '../config/index.ts'
import { type Ffmpeg, makeDownloads } from '../media/index.ts'
import { isPublicAddress, makeGuardedFetch, type Resolve, systemResolve } from '../platform/fetch/index.ts'
import type { Logger } from '../platform/logger.ts'

export function makeImportDownloads(options: { config: () => Config; logger: Logger; ffmpeg: Ffmpeg; userAgent: string }) {
  const { config, logger, ffmpeg, userAgent } = options
  const isAllowed = (address: string): boolean => config().vireo.federation.allow_private_addresses || isPublicAddress(address)
  const resolve: Resolve = async (hostname) => {
    const found = await systemResolve(hostname)
    return config().import.videos.http.force_ipv4 ? found.filter(({ family }) => family === 4) : found
  }
  const proxy = (): string | undefined => {
    const { proxies } = config().import.videos.http
    return proxies[Math.floor(Math.random() * proxies.length)]
  }
  const guard = { isAllowed, resolve }
  const http = makeGuardedFetch({
    allowHttp: true,
    allowPrivateAddresses: false,
    isAllowedAddress: isAllowed,
    timeoutMs: config().vireo.federation.fetch.timeout,
    maxRedirects: config().vireo.federation.fetch.max_redirects,
    userAgent,
    logger,
    resolve,
    proxy,
  })
  const downloads = makeDownloads({ http, guard: { ...guard, proxy }, config, logger, ffmpeg })

  return {
    downloads,
    close() {
      return http.close()
    },
    /** True if imports from a host are allowed, by its name or address. */
    async mayImportFrom(hostname: string) {
      const literal = hostname.replace(/^\[|\]$/g, '')
      // Even if the guard is disabled, as in tests.
      if (isIP(literal)) return isPublicAddress(literal)
      // A name that cannot be resolved now is checked again when it is connected to.
      const found = await resolve(hostname).catch(() => [])
      return found.length === 0 || found.some(({ address }) => isAllowed(address))
    },
  }
}
