// Reads an index of servers periodically and follows those that are new in it.

import { z } from 'zod'
import { claimLook, restoreLook } from '../actors/instance/index.ts'
import type { FederationDeps } from './deps.ts'

const MAX_BYTES = 5_000_000
const MAX_HOSTS = 5000
const HOST = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{1,63}(?::\d{1,5})?$/i
const LAST_LOOK = 'auto-follow-index'
/** How often the schedule is checked. */
const CHECK_EVERY_MS = 60_000

const answer = z.object({ data: z.array(z.unknown()) })
const entry = z.object({ host: z.string().max(260).regex(HOST) })

export function followIndex(deps: FederationDeps): void {
  const { registry, db, clock, config, logger } = deps

  registry.periodic('auto-follow-index', {
    everyMs: () => Math.min(CHECK_EVERY_MS, config().vireo.schedulers.auto_follow_index_instances),
    async run() {
      const { enabled, index_url } = config().followings.instance.auto_follow_index
      if (!enabled || index_url === '') return
      const now = clock.now()
      const before = new Date(now.getTime() - config().vireo.schedulers.auto_follow_index_instances)
      const claimed = await claimLook(db.query, LAST_LOOK, { now, before })
      if (!claimed) return
      try {
        await ask(deps, hostsOf(await read(deps, index_url, claimed.lastLook), deps))
      } catch (error) {
        await restoreLook(db.query, LAST_LOOK, claimed.lastLook)
        logger.warn({ err: error, index: index_url }, 'the index of servers could not be read')
      }
    },
  })
}

async function read({ http, config }: FederationDeps, indexUrl: string, since: string | null): Promise<unknown[]> {
  const url = new URL(indexUrl)
  if (since !== null) url.searchParams.set('since', since)
  const found = await http.fetch(url.href, {
    headers: { accept: 'application/json' },
    maxBytes: MAX_BYTES,
    timeoutMs: config().vireo.federation.fetch.timeout,
  })
  if (found.status !== 200) throw new Error(`${indexUrl} answered ${found.status}`)
  return answer.parse(JSON.parse(found.body.toString('utf8'))).data
}

function hostsOf(entries: unknown[], { urls }: FederationDeps): string[] {
  const hosts = entries.slice(0, MAX_HOSTS).flatMap((one) => {
    const read = entry.safeParse(one)
    return read.success ? [read.data.host.toLowerCase()] : []
  })
  return [...new Set(hosts)].filter((host) => host !== urls.host)
}

/** Queues a follow job for each host that the instance does not follow and has never asked. */
async function ask({ db, tell, urls }: FederationDeps, hosts: string[]): Promise<void> {
  const fresh = await db.query<{ host: string }>(
    `select host from unnest((select $1::text[])) as candidate(host) where not exists (
       select 1 from follow f join actor b on b.id = f.target_id join remote_host h on h.id = b.host_id
         join actor a on a.id = f.follower_id
       where a.url_hash = md5($2)::uuid and a.url = $2 and h.host = candidate.host and b.type = 'Application' and f.state <> 'none')`,
    [hosts, urls.instance],
  )
  if (fresh.length === 0) return
  await tell.create(async (unit) => {
    for (const { host } of fresh) {
      unit.enqueue({ type: 'activitypub-follow', data: { host, fromIndex: 1 }, dedupeKey: `follow-${host}` })
    }
  })
}
