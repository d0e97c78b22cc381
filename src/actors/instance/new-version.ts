// Checks for newer releases of the software periodically, if so configured; notifies once per release.

import { z } from 'zod'
import type { GuardedFetch } from '../../platform/fetch/index.ts'
import type { ActorDeps } from '../runtime/index.ts'
import { isNewer } from './versions.ts'

const MAX_BYTES = 100_000
const LONGEST_VERSION = 100
const SETTING = 'newest-version'

/** The format of joinpeertube.org at `/api/v1/versions.json`, and of replacements. */
const answer = z.object({ peertube: z.object({ latestVersion: z.string().max(LONGEST_VERSION) }) })

export function lookForNewVersions(
  deps: ActorDeps & {
    http: Pick<GuardedFetch, 'fetch'>
    /** The running version, as shown by the API. */
    version: string
    instanceActorId: () => Promise<number>
  },
): void {
  const { tell, registry, config, logger, http, version, instanceActorId } = deps

  registry.periodic('new-version', {
    everyMs: () => config().vireo.schedulers.check_peertube_version,
    async run() {
      const { enabled, url } = config().peertube.check_latest_version
      if (!enabled || url === '') return
      try {
        const newest = await read(url)
        if (isNewer(newest, version)) await release(newest)
      } catch (error) {
        logger.warn({ err: error, url }, 'it cannot be known whether there is a newer version')
      }
    },
  })

  async function read(url: string): Promise<string> {
    const found = await http.fetch(url, {
      headers: { accept: 'application/json' },
      maxBytes: MAX_BYTES,
      timeoutMs: config().vireo.federation.fetch.timeout,
    })
    if (found.status !== 200) throw new Error(`${url} answered ${found.status}`)
    return answer.parse(JSON.parse(found.body.toString('utf8'))).peertube.latestVersion
  }

  /** Each version is announced once, even if the response alternates. */
  async function release(newest: string): Promise<void> {
    const id = await instanceActorId()
    await tell.create(async (unit) => {
      const [announced] = await unit.query<{ version: string }>(
        "select value ->> 'version' as version from setting where key = $1 for update",
        [SETTING],
      )
      if (announced && !isNewer(newest, announced.version)) return
      const stored = await unit.query(
        `insert into setting (key, value, updated_at) values ($1, jsonb_build_object('version', $2::text), $3)
         on conflict (key) do update set value = excluded.value, updated_at = excluded.updated_at
         where setting.value <> excluded.value returning key`,
        [SETTING, newest, unit.now],
      )
      if (stored.length > 0) unit.emit({ aggregate: 'actor', id }, 'NewVersionReleased', { version: newest })
    })
  }
}
