// The software of other servers: each is asked once a day.

import { claimUncheckedHosts } from '../../actors/remote-host/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { FederationDeps } from '../deps.ts'
import type { Discovery } from '../fetch/discovery.ts'

const LOOK_EVERY_MS = 300_000

export function queueSoftwareChecks(deps: FederationDeps & { discovery: Discovery }): void {
  const { registry, db, config, clock, tell, logger, discovery } = deps

  registry.periodic('software-of-hosts', {
    everyMs: () => Math.min(LOOK_EVERY_MS, config().vireo.federation.refresh.host),
    async run() {
      const before = new Date(clock.now().getTime() - config().vireo.federation.refresh.host)
      await tell.create(async (unit) => {
        for (const { id } of await claimUncheckedHosts(unit, before)) {
          unit.enqueue({ type: 'host-software', data: { hostId: id }, dedupeKey: `host-software-${id}` })
        }
      })
    },
  })

  registry.job('host-software', {
    queue: 'io',
    async run({ data }) {
      const [host] = await db.query<{ host: string }>('select host from remote_host where id = $1', [data.hostId])
      if (!host) return
      try {
        await discovery.noteSoftwareOf(host.host)
      } catch (error) {
        // Many servers have no NodeInfo; it is requested again tomorrow.
        if (!(error instanceof DomainError)) throw error
        logger.debug({ host: host.host, reason: error.message }, 'the software of a host is not known')
      }
    },
  })
}
