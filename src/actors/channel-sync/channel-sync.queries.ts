// Reads of synchronisations: those of an account, one for its jobs, and the imports of a round.

import type { Aliased, Columns, Database, InJson, Sql } from '../../platform/database/index.ts'
import { type ActorSummary, summaryOf } from '../actor/index.ts'
import type { ChannelSync } from './channel-sync.entity.ts'

export interface ChannelSyncRow
  extends InJson<Columns<typeof ChannelSync, 'id' | 'externalChannelUrl' | 'createdAt' | 'lastSyncAt' | 'state'>> {
  channel: ActorSummary
}

export interface ChannelSyncListQuery {
  accountId: number
  start: number
  count: number
  sort: {
    by: 'externalChannelUrl' | 'videoChannel' | 'createdAt' | 'lastSyncAt' | 'state'
    descending: boolean
  }
}

const ROW = `jsonb_build_object('id', s.id, 'external_channel_url', s.external_channel_url, 'state', s.state,
  'created_at', s.created_at, 'last_sync_at', s.last_sync_at, 'channel', ${summaryOf('c', 'x')})`

const OF_ACCOUNT = `channel_sync s join channel c on c.id = s.channel_id join actor x on x.id = c.actor_id
  where c.account_id = $1 and c.state = 'active'`

/** In the order of the states' numbers for clients. */
const STATE_ORDER = "array_position(array['waiting-first-run', 'processing', 'synced', 'failed'], s.state)"

const COLUMNS = {
  externalChannelUrl: 's.external_channel_url',
  videoChannel: 'c.name',
  createdAt: 's.created_at',
  lastSyncAt: "coalesce(s.last_sync_at, '-infinity')",
  state: STATE_ORDER,
} as const

/** One statement. */
export async function listChannelSyncs(
  db: Pick<Database, 'query'>,
  { accountId, start, count, sort }: ChannelSyncListQuery,
): Promise<{ total: number; rows: ChannelSyncRow[] }> {
  const direction = sort.descending ? 'desc' : 'asc'
  const [page] = await db.query<{ total: number; rows: ChannelSyncRow[] }>(
    `with page as materialized (
       select s.id, ${COLUMNS[sort.by]} as sort_key from ${OF_ACCOUNT}
       order by sort_key ${direction}, s.id ${direction} limit $2 offset $3
     )
     select (select count(*)::int from ${OF_ACCOUNT}) as total,
       coalesce((select jsonb_agg(${ROW} order by p.sort_key ${direction}, p.id ${direction})
         from page p join channel_sync s on s.id = p.id join channel c on c.id = s.channel_id
           join actor x on x.id = c.actor_id), '[]') as rows`,
    [accountId, count, start],
  )
  return page ?? { total: 0, rows: [] }
}

export async function findChannelSync(db: Pick<Database, 'query'>, id: number): Promise<ChannelSyncRow | undefined> {
  const [found] = await db.query<{ row: ChannelSyncRow }>(
    `select ${ROW} as row from channel_sync s join channel c on c.id = s.channel_id join actor x on x.id = c.actor_id
     where s.id = $1`,
    [id],
  )
  return found?.row
}

/** The owner of the importing channel, and the permission. */
export interface Importer {
  channelId: number
  /** Null for a remote channel. */
  userId: number | null
  accountId: number
  accountActorId: number
  remote: boolean
  /** Channel and user exist, and the user is not blocked. */
  active: boolean
}

const importerOf = (channel: string) => `
  select c.id as "channelId", u.id as "userId", a.id as "accountId", a.actor_id as "accountActorId",
    x.host_id is not null as remote,
    c.state = 'active' and not coalesce(u.blocked, true) as active
  from channel c join actor x on x.id = c.actor_id join account a on a.id = c.account_id
    left join users u on u.id = a.user_id
  where c.id = ${channel} and x.deleted_at is null`

export async function findImporter(query: Sql, channelId: number): Promise<Importer | undefined> {
  const [row] = await query<Importer>(importerOf('$1'), [channelId])
  return row
}

/** A synchronisation for its commands and jobs. */
export interface StoredSync
  extends Aliased<typeof ChannelSync, 'id' | 'channelId' | 'lastSyncAt' | 'createdAt' | 'knownUrls' | 'state' | 'context'> {
  url: string
}

export async function loadSync(query: Sql, id: number): Promise<StoredSync | undefined> {
  const [row] = await query<StoredSync>(
    `select s.id, s.channel_id as "channelId", s.external_channel_url as url, s.state, s.context,
       s.last_sync_at as "lastSyncAt", s.created_at as "createdAt",
       s.known_urls as "knownUrls"
     from channel_sync s join channel c on c.id = s.channel_id where s.id = $1 and c.state = 'active'`,
    [id],
  )
  return row
}

/** States that a later round may retry: failures, and refusals, for example because the user was blocked. */
const FAILED = "('failed', 'rejected')"

/** Running imports of a synchronisation, and failed ones of its current round. One statement. */
export async function importsOfRound(query: Sql, syncId: number): Promise<{ open: number; failed: number }> {
  const [row] = await query<{ open: number; failed: number }>(
    `select count(*) filter (where i.state in ('pending', 'processing'))::int as open,
       count(*) filter (where i.state in ${FAILED} and i.created_at >= s.round_at)::int as failed
     from channel_sync s join video_import i on i.channel_sync_id = s.id
     where s.id = $1 and (i.state in ('pending', 'processing') or i.created_at >= s.round_at)`,
    [syncId],
  )
  return row ?? { open: 0, failed: 0 }
}

/** How many imports of an address into a channel failed, and how many were cancelled. */
export async function triesOf(query: Sql, channelId: number, url: string): Promise<{ failed: number; ended: number }> {
  const [row] = await query<{ failed: number; ended: number }>(
    `select count(*) filter (where state in ${FAILED})::int as failed,
       count(*) filter (where state = 'cancelled')::int as ended
     from video_import where channel_id = $1 and md5(target_url) = md5($2) and target_url = $2`,
    [channelId, url],
  )
  return row ?? { failed: 0, ended: 0 }
}
