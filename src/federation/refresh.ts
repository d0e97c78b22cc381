// What has grown old: actors of other servers that were met are read anew, and every server is asked for its software.

import type { RemoteActors } from '../actors/actor/index.ts'
import { DomainError, PermanentFailure } from '../actors/runtime/index.ts'
import type { FederationDeps } from './deps.ts'
import type { ResolveActor } from './fetch/actors.ts'
import type { Discovery } from './fetch/discovery.ts'

const LOOK_EVERY_MS = 300_000
const HOSTS_AT_ONCE = 100

export function refreshStale(
  deps: FederationDeps & { resolveActor: ResolveActor; remoteActors: RemoteActors; discovery: Discovery },
): void {
  const { registry, db, config, clock, tell, logger, resolveActor, remoteActors, discovery } = deps

  registry.job('activitypub-refresher', {
    queue: 'io',
    async run({ data }) {
      const actorId = Number(data.actorId)
      const [actor] = await db.query<{ url: string }>(
        'select url from actor where id = $1 and host_id is not null and deleted_at is null',
        [actorId],
      )
      if (!actor) return
      try {
        await resolveActor(actor.url, { maxAgeMs: 0 })
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        if (await isGone(actorId, error)) return
        throw new PermanentFailure(error.message, { cause: error })
      }
    },
  })

  /** Its own server says that an actor is gone; that it is missing counts when it was said several times. */
  async function isGone(actorId: number, { kind, message }: DomainError): Promise<boolean> {
    if (kind !== 'gone' && kind !== 'not_found') return false
    const { missing_actor_strikes } = config().vireo.federation.refresh
    if (kind === 'not_found' && (await remoteActors.strike(actorId)) < missing_actor_strikes) return false
    logger.info({ reason: message }, 'a remote actor is gone')
    await remoteActors.remove(actorId)
    return true
  }

  registry.periodic('software-of-hosts', {
    everyMs: () => Math.min(LOOK_EVERY_MS, config().vireo.federation.refresh.host),
    async run() {
      const now = clock.now()
      const before = new Date(now.getTime() - config().vireo.federation.refresh.host)
      await tell.create(async (unit) => {
        const hosts = await unit.query<{ id: number }>(
          `update remote_host set software_checked_at = $1 where id in (
             select id from remote_host
             where (software_checked_at is null or software_checked_at <= $2) and state <> 'dormant'
             order by software_checked_at nulls first, id limit ${HOSTS_AT_ONCE} for no key update skip locked
           ) returning id`,
          [now, before],
        )
        for (const { id } of hosts) {
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
        // Many servers have no node information; tomorrow it is asked for again.
        if (!(error instanceof DomainError)) throw error
        logger.debug({ host: host.host, reason: error.message }, 'the software of a host is not known')
      }
    },
  })
}
