// The registry of packages (npm's) and the index of plugins, both asked through the guarded fetch.

import { z } from 'zod'
import type { Config } from '../../config/index.ts'
import type { GuardedFetch } from '../../platform/fetch/index.ts'
import { DomainError } from '../runtime/index.ts'
import { EXACT_VERSION, LONGEST_NPM_NAME, NPM_NAME, type PluginType } from './manifest.ts'
import { packageLimits, verifyIntegrity } from './package.ts'

export interface IndexQuery {
  start: number
  count: number
  sort: string
  pluginType?: PluginType | undefined
  search?: string | undefined
  currentPeerTubeEngine?: string | undefined
}

/** The version of PeerTube whose plugin API is offered. */
const ENGINE = '7.0.0'
const MAX_ANSWER_BYTES = 2 * 1024 * 1024

const version = z.object({
  version: z.string().regex(EXACT_VERSION),
  dist: z.object({ tarball: z.url({ protocol: /^https?$/ }), integrity: z.string().regex(/^sha512-[A-Za-z0-9+/]{86}==$/) }),
})

const npmName = z.string().max(LONGEST_NPM_NAME).regex(NPM_NAME)
const date = z.coerce.date().transform((time) => time.toISOString())
const text = z
  .string()
  .max(20_000)
  .nullish()
  .transform((value) => value ?? '')
const indexed = z.object({
  npmName,
  description: text,
  homepage: text,
  createdAt: date,
  updatedAt: date,
  popularity: z.number().catch(0),
  latestVersion: z.string().max(100),
  official: z.boolean().catch(false),
  recommended: z.boolean().catch(false),
})
export type IndexedPlugin = z.infer<typeof indexed>

const found = z.object({ total: z.int().min(0), data: z.array(indexed).max(100) })
const latest = z.array(z.object({ npmName, latestVersion: z.string().regex(EXACT_VERSION).nullable() })).max(1000)

export type PluginRegistry = ReturnType<typeof makePluginRegistry>

export function makePluginRegistry({ http, config }: { http: Pick<GuardedFetch, 'fetch'>; config: () => Config }) {
  async function ask<T>(schema: z.ZodType<T>, url: string, body?: object): Promise<T | undefined> {
    try {
      const answer = await http.fetch(url, {
        headers: { accept: 'application/json', ...(body ? { 'content-type': 'application/json' } : {}) },
        maxBytes: MAX_ANSWER_BYTES,
        ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      })
      if (answer.status === 404) return undefined
      if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`)
      return schema.parse(JSON.parse(answer.body.toString('utf8')))
    } catch (cause) {
      throw new DomainError('unavailable', 'The index or registry of plugins cannot be reached, or answers nonsense.', { cause })
    }
  }

  const indexAddress = (path: string): string => `${config().plugins.index.url.replace(/\/+$/, '')}/api/v1/${path}`

  return {
    /**
     * The package of a version, or of the latest one. Throws `not_found`, `unavailable`, and `unprocessable` if the bytes do not have the
     * hash that the registry states.
     */
    async download(name: string, wanted: string | undefined): Promise<Buffer> {
      const address = `${config().vireo.plugins.registry.replace(/\/+$/, '')}/${name}/${wanted ?? 'latest'}`
      const { dist } = (await ask(version, address)) ?? {}
      if (!dist) throw new DomainError('not_found', 'The registry does not have this version of the plugin.')
      const archive = await http
        .fetch(dist.tarball, { maxBytes: packageLimits.packed, timeoutMs: config().vireo.federation.fetch.file_timeout })
        .catch((cause: unknown) => {
          throw new DomainError('unavailable', 'The package cannot be downloaded, or is too large.', { cause })
        })
      if (archive.status !== 200) throw new DomainError('unavailable', `The registry answers ${archive.status} for the package.`)
      await verifyIntegrity(archive.body, dist.integrity)
      return archive.body
    },

    /** Throws `unavailable`. */
    async search({ start, count, sort, pluginType, search, currentPeerTubeEngine }: IndexQuery) {
      const parameters = new URLSearchParams({ start: String(start), count: String(count), sort })
      if (pluginType !== undefined) parameters.set('pluginType', String(pluginType))
      if (search) parameters.set('search', search)
      parameters.set('currentPeerTubeEngine', currentPeerTubeEngine ?? ENGINE)
      const answer = await ask(found, indexAddress(`plugins?${parameters}`))
      if (!answer) throw new DomainError('unavailable', 'There is no index of plugins at `plugins.index.url`.')
      return answer
    },

    /** The latest versions for this engine, by name; only those that the index knows. Throws `unavailable`. */
    async latestVersions(npmNames: readonly string[]): Promise<Map<string, string>> {
      const rows = (await ask(latest, indexAddress('plugins/latest-version'), { npmNames, currentPeerTubeEngine: ENGINE })) ?? []
      return new Map(rows.flatMap((row) => (row.latestVersion === null ? [] : [[row.npmName, row.latestVersion]])))
    },
  }
}
