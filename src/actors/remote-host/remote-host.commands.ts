// Known servers and their reachability: the machine `remote-host`.

import { batched } from '../../platform/batched.ts'
import type { Sql } from '../../platform/database/index.ts'
import { makeLru } from '../../platform/lru.ts'
import {
  dueIn,
  initialRemoteHost,
  type RemoteHostContext,
  type RemoteHostEvent,
  type RemoteHostState,
  remoteHostMachine,
} from '../../state-machines/remote-host.ts'
import { type ActorDeps, advanceRow, defineLifecycle, next, notFound, type Unit } from '../runtime/index.ts'

/** Signature profiles: draft-cavage-http-signatures-12, or RFC 9421. */
export const signatureProfiles = ['cavage', 'rfc9421'] as const
export type SignatureProfile = (typeof signatureProfiles)[number]

export interface KnownHost {
  id: number
  host: string
  state: RemoteHostState
  dueAt: Date | null
  signatureProfile: SignatureProfile
}

const NOTE_AGAIN_MS = 30_000
const MAX_ERROR = 1000
const HOSTS_AT_ONCE = 100
/** Cached by each process. */
const HOSTS = 10_000
/** The lane of `actors/delivery`, which depends on this noun. */
const DELIVERY_LANE = 'delivery'

const remoteHostLifecycle = defineLifecycle({
  table: 'remote_host',
  machine: remoteHostMachine,
  initial: initialRemoteHost,
  dueIn,
  endOfWait: (wait, { context }) => context.failedAt + wait,
})

export type RemoteHosts = ReturnType<typeof makeRemoteHosts>

export function makeRemoteHosts(deps: ActorDeps) {
  const { db, clock, config, logger } = deps
  const settings = () => config().vireo.federation.delivery
  /** When the last success of a host was stored; absent after an error, so that a recovery is stored at once. */
  const succeededAt = makeLru<number, number>(HOSTS)
  const noteSuccess = batched<number, void>(
    async (ids) => {
      await db.query('update remote_host set last_success_at = $2 where id = any($1)', [ids, clock.now()])
      return ids.map(() => undefined)
    },
    { max: 500 },
  )

  interface HostRow extends KnownHost {
    context: Partial<RemoteHostContext>
  }
  const COLUMNS = 'id, host, state, context, due_at as "dueAt", signature_profile as "signatureProfile"'

  async function load(hostId: number): Promise<HostRow | undefined> {
    const [row] = await db.query<HostRow>(`select ${COLUMNS} from remote_host where id = $1`, [hostId])
    return row
  }

  /** Concurrent activities share one statement that finds failing and dormant hosts. */
  const findUnwell = batched<string, HostRow | undefined>(
    async (hosts) => {
      const rows = await db.query<HostRow>(`select ${COLUMNS} from remote_host where host = any($1) and state <> 'healthy'`, [
        [...new Set(hosts)],
      ])
      const found = new Map(rows.map((row) => [row.host, row]))
      return hosts.map((host) => found.get(host))
    },
    { max: HOSTS_AT_ONCE },
  )

  async function lock(unit: Unit, column: 'host' | 'id', value: string | number): Promise<HostRow | undefined> {
    const [row] = await unit.query<HostRow>(`select ${COLUMNS} from remote_host where ${column} = $1 for no key update`, [value])
    return row
  }

  /** The lane of the host and its incoming activities advance its machine concurrently: its row is locked. */
  async function tell(hostId: number, event: RemoteHostEvent): Promise<void> {
    await deps.tell.create(async (unit) => {
      const row = await lock(unit, 'id', hostId)
      if (!row) return
      const { state, changed } = await advanceRow(unit, remoteHostLifecycle, row, event, {}, settings())
      if (!changed) return
      if (state !== row.state) logger.info({ host: row.host, state }, 'a host changed its state')
      if (row.state === 'dormant') wake(unit, row.id)
      else if (event.type === 'HEARD') unit.wake(DELIVERY_LANE, String(row.id))
    })
  }

  /** The first of many concurrent activities wakes their host. */
  const hearing = new Map<number, Promise<void>>()

  function hear(hostId: number): Promise<void> {
    const heard = hearing.get(hostId) ?? tell(hostId, { type: 'HEARD' }).finally(() => hearing.delete(hostId))
    hearing.set(hostId, heard)
    return heard
  }

  /** Sends what has waited since before it became dormant; activities that it sent nobody meanwhile are fetched. */
  function wake(unit: Unit, hostId: number): void {
    unit.wake(DELIVERY_LANE, String(hostId))
    unit.emit({ aggregate: 'remote_host', id: hostId }, 'HostAwoke', { hostId })
  }

  return {
    find(hostId: number): Promise<KnownHost | undefined> {
      return load(hostId)
    },
    /** A delivery got a response from the host; its time is stored only now and then, unless `exactly`. */
    async succeeded({ id, state }: Pick<KnownHost, 'id' | 'state'>, { exactly }: { exactly: boolean }): Promise<void> {
      if (state !== 'healthy') await tell(id, { type: 'SUCCEEDED' })
      const now = clock.now().getTime()
      if (!exactly && now - (succeededAt.get(id) ?? Number.NEGATIVE_INFINITY) < NOTE_AGAIN_MS) return
      succeededAt.set(id, now)
      await noteSuccess(id)
    },
    /** A delivery failed because of the host; `retryAfter` in ms, 0 without one. */
    async failed(hostId: number, retryAfter: number): Promise<void> {
      await tell(hostId, {
        type: 'FAILED',
        at: clock.now().getTime(),
        settings: settings(),
        ...(retryAfter > 0 ? { retryAfter } : {}),
      })
    },
    /**
     * A verified activity arrived from the host: a failing host is retried now; a dormant one wakes up, gets what still waits for it, and
     * its outboxes are read for what was missed.
     */
    async heard(host: string): Promise<void> {
      const known = await findUnwell(host.toLowerCase())
      // If a host is retried soon anyway, its activity changes nothing.
      if (known && next(remoteHostLifecycle, known, { type: 'HEARD' }, clock.now(), settings()).changed) await hear(known.id)
    },
    /** Stores the last error of the host, for the admin. */
    async noteError(hostId: number, error: string): Promise<void> {
      succeededAt.delete(hostId)
      await db.query('update remote_host set last_error = $2, last_error_at = $3 where id = $1', [
        hostId,
        error.slice(0, MAX_ERROR),
        clock.now(),
      ])
    },
    /** Retries a host now; `also` runs in the same transaction. Throws `not_found` for an unknown host. */
    async retry(host: string, also: (unit: Unit, hostId: number) => Promise<void>): Promise<void> {
      await deps.tell.create(async (unit) => {
        const row = await lock(unit, 'host', host.toLowerCase())
        if (!row) throw notFound('This server is not known.')
        await advanceRow(unit, remoteHostLifecycle, row, { type: 'RETRIED' }, {}, settings())
        await also(unit, row.id)
        if (row.state === 'dormant') wake(unit, row.id)
        else unit.wake(DELIVERY_LANE, String(row.id))
      })
    },
    async preferProfile(hostId: number, profile: SignatureProfile): Promise<void> {
      await db.query('update remote_host set signature_profile = $2 where id = $1', [hostId, profile])
    },
    /** The signature profile that last worked for a host; the common one for an unknown host. */
    async profileOf(host: string): Promise<SignatureProfile> {
      const [row] = await db.query<{ profile: SignatureProfile }>('select signature_profile as profile from remote_host where host = $1', [
        host.toLowerCase(),
      ])
      return row?.profile ?? 'cavage'
    },
    async preferProfileOf(host: string, profile: SignatureProfile): Promise<void> {
      await db.query('update remote_host set signature_profile = $2 where host = $1', [host.toLowerCase(), profile])
    },
    async noteUnsupported(hostId: number, type: string): Promise<void> {
      await db.query(
        `update remote_host set unsupported_types = array_append(unsupported_types, $2)
         where id = $1 and not ($2 = any(unsupported_types))`,
        [hostId, type],
      )
    },
  }
}

/** The row of a host, created as healthy with the working signature profile. Returns its id. */
export async function ensureHost(query: Sql, host: string, profile: SignatureProfile): Promise<number> {
  const [row] = await query<{ id: number }>(
    `with known as (select id from remote_host where host = $1),
     fresh as (
       insert into remote_host (host, state, context, signature_profile) select $1, $2, $3, $4 where not exists (select 1 from known)
       on conflict (host) do update set host = excluded.host returning id
     ) select id from known union all select id from fresh`,
    [host.toLowerCase(), initialRemoteHost.state, JSON.stringify(initialRemoteHost.context), profile],
  )
  if (!row) throw new Error(`The host ${host} could not be stored.`)
  return row.id
}
