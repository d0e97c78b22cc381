// Copies of videos on other servers: local ones are requested, renewed and ended; remote ones are reported and withdrawn.

import type { Aliased, Columns } from '../../platform/database/index.ts'
import { type RedundancySettings, reportedRedundancy } from '../../state-machines/redundancy.ts'
import { allowRedundancy } from '../remote-host/remote-host.writes.ts'
import {
  type ActorDeps,
  advance,
  DomainError,
  ignoreNotFound,
  initialColumns,
  type Noted,
  notFound,
  type PassOn,
  takes,
  type Unit,
} from '../runtime/index.ts'
import { videoPrivacies } from '../video/index.ts'
import { FEDERATED_PRIVACIES } from '../video/video.entity.ts'
import { insertPlanned, targetsOf } from './planned-copies.ts'
import { Redundancy } from './redundancy.entity.ts'
import { assertMayMirror, lifetimeOf, MAX_COPIES } from './redundancy.policy.ts'
import { lockedCopy, queueRemoval, redundancyLifecycle, settingsOf } from './redundancy-state.ts'

export type Copied = { kind: 'playlist' } | { kind: 'file'; resolution: number; fps: number }

/** A remote copy of a local video, as its holder reports it. */
export interface ReportedCopy {
  actorId: number
  /** ActivityPub id. */
  url: string
  videoUrl: string
  copied: Copied
  /** Address for players; this server never fetches it. */
  fileUrl: string
  expiresAt: Date | null
  /** Runs if it is new. */
  passOn?: PassOn
}

export type Redundancies = ReturnType<typeof makeRedundancies>

export function makeRedundancies(deps: ActorDeps & { instanceActorId: () => Promise<number> }) {
  const { db, tell, registry, config, instanceActorId } = deps

  registry.timeout('redundancy', {
    of: redundancyLifecycle,
    timedOut: (id) =>
      tell({ aggregate: 'redundancy', id }, async (unit) => {
        const copy = await unit.em.findOneOrFail(Redundancy, id)
        if (!copy.dueAt || copy.dueAt > unit.now) return
        const settings = settingsOf(deps)
        const isReleased = !copy.leaseOwner
        advance(unit, redundancyLifecycle, copy, { type: 'TIMED_OUT', settings, isReleased }, settings)
      }),
  })

  // In one transaction with the notification.
  registry.on('RedundancyStored', 'redundancy', async ({ redundancyId }, unit) => {
    const copy = await lockedCopy(unit, redundancyId)
    if (copy?.state === 'stored') advance(unit, redundancyLifecycle, copy, { type: 'ANNOUNCED' }, settingsOf(deps))
  })
  registry.on('RedundancyRemoved', 'redundancy', async ({ redundancyId }, unit) => queueRemoval(unit, redundancyId))

  // Servers with a copy of a video that became private were notified of its removal.
  for (const event of ['VideoUpdated', 'VideoRemoved', 'VideoBlocked'] as const) {
    registry.on(event, 'redundancy', async ({ videoId }, unit) => {
      await unit.query(
        `delete from redundancy r using video v
         where r.video_id = $1 and v.id = r.video_id and not v.remote
           and (v.blocked or not (v.privacy = any($2)))`,
        [videoId, [videoPrivacies.public, videoPrivacies.unlisted]],
      )
    })
  }

  // A blocked video must not be served here.
  registry.on('VideoBlocked', 'our-copies', async ({ videoId }, unit) => {
    const copies = await unit.query<Columns<Redundancy, 'id'>>(
      'select id from redundancy where video_id = $1 and actor_id = $2 order by id',
      [videoId, await instanceActorId()],
    )
    for (const { id } of copies) {
      const copy = await lockedCopy(unit, id)
      const event = { type: 'REMOVED' } as const
      if (!copy || !takes(redundancyLifecycle, copy, event)) continue
      advance(unit, redundancyLifecycle, copy, event, settingsOf(deps))
    }
  })

  // Their server may have made the files of a video again.
  registry.periodic('outdated-redundancies', {
    everyMs: () => config().redundancy.videos.check_interval,
    async run() {
      const outdated = await db.query<Columns<Redundancy, 'id'>>(
        `select r.id from redundancy r join streaming_playlist p on p.id = r.streaming_playlist_id
         where r.actor_id = $1 and r.state = 'announced' and p.playlist_url is distinct from r.source_url
         order by r.id limit 100`,
        [await instanceActorId()],
      )
      for (const { id } of outdated) {
        await ignoreNotFound(
          tell({ aggregate: 'redundancy', id }, async (unit) => {
            const copy = await unit.em.findOneOrFail(Redundancy, id)
            advance(unit, redundancyLifecycle, copy, { type: 'OUTDATED' }, settingsOf(deps))
          }),
        )
      }
    },
  })

  async function remove(redundancyId: number, then?: (unit: Unit) => Promise<void>): Promise<void> {
    await tell({ aggregate: 'redundancy', id: redundancyId }, async (unit) => {
      const copy = await unit.em.findOneOrFail(Redundancy, redundancyId)
      advance(unit, redundancyLifecycle, copy, { type: 'REMOVED' }, settingsOf(deps))
      unit.note(mirrored(copy.videoId, 'ended'))
      await then?.(unit)
    }).catch((error: unknown) => {
      if (!(error instanceof DomainError) || error.kind === 'busy') throw error
      throw notFound('Video redundancy not found')
    })
  }

  return {
    /**
     * Requests copies of a remote video: of its playlist, and of each of its web videos. Throws `not_found`, `invalid` for local and live
     * videos, `conflict` if all of it, or some by a strategy, is copied already.
     */
    async request({ videoId }: { videoId: number }): Promise<void> {
      const actorId = await instanceActorId()
      const failed = await tell.create(async (unit) => {
        const targets = await targetsOf(unit, videoId)
        unit.note(mirrored(videoId, 'asked for'))
        const chosen = await unit.query(
          `select 1 from redundancy
           where video_id = $1 and actor_id = $2 and strategy <> 'manual' and state <> 'failed' limit 1`,
          [videoId, actorId],
        )
        if (chosen.length > 0) throw new DomainError('conflict', 'This video is already mirrored.')
        const added = await insertPlanned(deps, unit, targets, { actorId, strategy: 'manual', lifetime: null })
        if (added > 0) return []
        const ended = await unit.query<Columns<Redundancy, 'id'>>(
          "select id from redundancy where video_id = $1 and actor_id = $2 and state = 'failed'",
          [videoId, actorId],
        )
        if (ended.length === 0) throw new DomainError('conflict', 'This video is already mirrored.')
        return ended
      })
      for (const { id } of failed) {
        await ignoreNotFound(
          tell({ aggregate: 'redundancy', id }, async (unit) => {
            const copy = await unit.em.findOneOrFail(Redundancy, id)
            // Whatever strategy chose it before.
            copy.strategy = 'manual'
            copy.context = { ...copy.context, lifetime: null }
            advance(unit, redundancyLifecycle, copy, { type: 'RETRIED' }, settingsOf(deps))
          }),
        )
      }
    },

    /** Ends a copy: a local one with its files, a remote one only here. Throws `not_found`. */
    remove(redundancyId: number): Promise<void> {
      return remove(redundancyId)
    },

    /** Extends a local copy by this lifetime from now; null for no expiry. */
    async renew(redundancyId: number, lifetimeMs: number | null): Promise<void> {
      await tell({ aggregate: 'redundancy', id: redundancyId }, async (unit) => {
        const copy = await unit.em.findOneOrFail(Redundancy, redundancyId)
        advance(unit, redundancyLifecycle, copy, { type: 'EXTENDED', lifetime: lifetimeMs }, settingsOf(deps))
        copy.expiresOn = lifetimeMs === null ? null : new Date(unit.now.getTime() + lifetimeMs)
        unit.emit({ aggregate: 'redundancy', id: redundancyId }, 'RedundancyRenewed', { redundancyId })
      })
    },

    /** Allows or forbids copies of a host's videos; forbidding ends existing ones. Throws `not_found` for an unknown host. */
    async allowHost(host: string, isAllowed: boolean): Promise<void> {
      await tell.create(async (unit) => {
        const known = await allowRedundancy(unit, host, isAllowed)
        if (!known) throw notFound(`Server ${host} not found.`)
        if (known.was !== isAllowed) {
          const entity = { following: host, redundancyAllowed: isAllowed }
          unit.note({ domain: 'follows', action: 'update', id: 0, entity })
        }
        if (known.was && !isAllowed) unit.enqueue({ type: 'redundancy-removal', data: { hostId: known.id } })
      })
    },

    /** Another server reports or extends a copy of a local video. Throws DomainError if it may not. */
    async receive({ actorId, url, videoUrl, copied, fileUrl, expiresAt, passOn }: ReportedCopy) {
      const us = await instanceActorId()
      return await tell.create(async (unit) => {
        const holder = await holderOf(unit, actorId, us)
        assertMayMirror(holder, { url, fileUrl }, config().remote_redundancy.videos.accept_from)
        const target = await targetOf(unit, videoUrl, copied)
        if (!target) throw notFound(`${videoUrl} is not a local video that may be copied.`)
        const lifetime = lifetimeOf(expiresAt, unit.now)
        if (lifetime !== null && lifetime <= 0) throw new DomainError('unprocessable', 'This copy is over already.')
        const isNew = await saveReported(unit, { ...target, actorId, url, fileUrl, lifetime }, settingsOf(deps))
        if (isNew) await passOn?.(unit, target.videoId)
        return { videoId: target.videoId, isNew }
      })
    },

    /** Its holder withdrew a copy. Returns the video; undefined if there was none. */
    async withdraw({ actorId, url, passOn }: { actorId: number; url: string; passOn?: PassOn }): Promise<{ videoId: number } | undefined> {
      const [row] = await db.query<Aliased<Redundancy, 'id' | 'videoId'>>(
        `select id, video_id as "videoId" from redundancy
         where url_hash = md5($1)::uuid and url = $1 and actor_id = $2 and path is null`,
        [url, actorId],
      )
      if (!row) return undefined
      await ignoreNotFound(remove(row.id, async (unit) => await passOn?.(unit, row.videoId)))
      return { videoId: row.videoId }
    },
  }
}

async function holderOf(unit: Unit, actorId: number, instanceActorId: number) {
  const [holder] = await unit.query<{ type: string; url: string; isFollowed: boolean }>(
    `select type, url, exists (select 1 from follow f
       where f.follower_id = $2 and f.target_id = $1 and f.state = 'accepted') as "isFollowed"
     from actor where id = $1 and host_id is not null and deleted_at is null`,
    [actorId, instanceActorId],
  )
  if (!holder) throw notFound('The holder of the copy is not known.')
  return holder
}

interface ReportedTarget {
  videoId: number
  playlistId: number | null
  fileId: number | null
}

/** The playlist or file of a public local video. */
async function targetOf(unit: Unit, videoUrl: string, copied: Copied): Promise<ReportedTarget | undefined> {
  const OURS = `v.url_hash = md5($1)::uuid and v.url = $1 and not v.remote and v.privacy in ${FEDERATED_PRIVACIES} and not v.blocked and v.state = 'published'`
  const [target] =
    copied.kind === 'playlist'
      ? await unit.query<ReportedTarget>(
          `select v.id as "videoId", p.id as "playlistId", null::int as "fileId"
           from video v join streaming_playlist p on p.video_id = v.id where ${OURS} for key share of v`,
          [videoUrl],
        )
      : await unit.query<ReportedTarget>(
          `select v.id as "videoId", null::int as "playlistId", f.id as "fileId"
           from video v join video_file f on f.video_id = v.id
           where ${OURS} and f.streaming_playlist_id is null and f.resolution = $2 and (f.fps = $3 or $3 < 0)
           order by f.id limit 1 for key share of v`,
          [videoUrl, copied.resolution, copied.fps],
        )
  return target
}

/** Returns true if it is new or changed. Idempotent. */
async function saveReported(
  unit: Unit,
  copy: ReportedTarget & { actorId: number; url: string; fileUrl: string; lifetime: number | null },
  settings: RedundancySettings,
): Promise<boolean> {
  const { videoId, playlistId, fileId, actorId, url, fileUrl, lifetime } = copy
  const reported = { ...redundancyLifecycle, initial: reportedRedundancy(lifetime) }
  const { state, context } = initialColumns(reported, unit.now, settings)
  const expiresOn = lifetime === null ? null : new Date(unit.now.getTime() + lifetime)
  const known = await unit.query<Columns<Redundancy, 'id'> & { isTarget: boolean }>(
    `select id, actor_id = $4 and coalesce(streaming_playlist_id = $2 or file_id = $3, false) as "isTarget" from redundancy
     where (url_hash = md5($1)::uuid and url = $1) or (actor_id = $4 and (streaming_playlist_id = $2 or file_id = $3))
     for no key update`,
    [url, playlistId, fileId, actorId],
  )
  const [first] = known
  if (first) {
    if (known.length > 1 || !first.isTarget) throw new DomainError('forbidden', `${url} is another copy.`)
    const copy = await unit.em.findOneOrFail(Redundancy, first.id)
    if (copy.url === url && copy.fileUrl === fileUrl && copy.expiresOn?.getTime() === expiresOn?.getTime()) return false
    advance(unit, redundancyLifecycle, copy, { type: 'EXTENDED', lifetime }, settings)
    Object.assign(copy, { url, fileUrl, expiresOn })
    return true
  }
  const rows = await unit.query(
    `insert into redundancy (actor_id, video_id, streaming_playlist_id, file_id, url, file_url, expires_on, state, context,
       due_at, size, created_at, updated_at)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $7,
       (select coalesce(sum(f.size), 0) from video_file f where f.id = $4 or f.streaming_playlist_id = $3), $10, $10
     where (select count(*) from redundancy where video_id = $2 and (streaming_playlist_id = $3 or file_id = $4)) < $11
     returning id`,
    [actorId, videoId, playlistId, fileId, url, fileUrl, expiresOn, state, JSON.stringify(context), unit.now, MAX_COPIES],
  )
  if (rows.length === 0) throw new DomainError('conflict', 'There are enough copies of this.')
  return true
}

const mirrored = (videoId: number, copy: 'asked for' | 'ended'): Noted => ({
  domain: 'videos',
  action: 'update',
  id: videoId,
  entity: { id: videoId, mirror: copy },
})
