// Follows in both directions: outgoing (by a local actor) and incoming (of one). The machine `follow` decides.

import type { Columns } from '../../platform/database/index.ts'
import {
  dueIn,
  type FollowEvent,
  type FollowSettings,
  type FollowState,
  followMachine,
  initialFollow,
} from '../../state-machines/follow.ts'
import { isMutedBy } from '../blocklist/index.ts'
import { type ActorDeps, advance, DomainError, defineLifecycle, notFound, type Unit } from '../runtime/index.ts'
import { Follow } from './follow.entity.ts'

const TRIES = 3

/** Ids of repeated requests that are stored. */
const REQUESTS_KEPT = 10

const followLifecycle = defineLifecycle({
  table: 'follow',
  machine: followMachine,
  initial: initialFollow,
  dueIn,
})

export type Follows = ReturnType<typeof makeFollows>

export function makeFollows(deps: ActorDeps) {
  const { db, tell, clock, config, registry, urls } = deps

  const settings = (): FollowSettings => config().vireo.federation.follow

  /** The row of the relation; new ones are in the state `none`. */
  async function relation(followerId: number, targetId: number): Promise<number> {
    const [row] = await db.query<Columns<Follow, 'id'>>(
      `insert into follow (follower_id, target_id, state, context) values ($1, $2, $3, $4)
       on conflict (follower_id, target_id) do update set follower_id = excluded.follower_id returning id`,
      [followerId, targetId, initialFollow.state, JSON.stringify(initialFollow.context)],
    )
    if (!row) throw new Error('The row of the follow could not be stored.')
    return row.id
  }

  /** Sends a request to the relation, again if the relation ended in between. */
  async function asking(followerId: number, targetId: number, send: (followId: number) => Promise<void>): Promise<{ followId: number }> {
    for (let attempt = 1; ; attempt += 1) {
      const followId = await relation(followerId, targetId)
      try {
        await send(followId)
        return { followId }
      } catch (error) {
        if (attempt === TRIES || !(error instanceof DomainError && error.kind === 'not_found')) throw error
      }
    }
  }

  /** Sends one event to the machine of a follow and stores the new state; an ended relation is deleted. */
  async function move(
    followId: number,
    event: FollowEvent,
    then: (unit: Unit, follow: Follow, before: FollowState) => void | Promise<void>,
  ) {
    await tell({ aggregate: 'follow', id: followId }, async (unit) => {
      const follow = await unit.em.findOneOrFail(Follow, followId)
      const { from, state } = advance(unit, followLifecycle, follow, event, settings())
      await then(unit, follow, from)
      if (state === 'none') unit.em.remove(follow)
    })
  }

  const askedOfUs = async (targetId: number, followerId: number): Promise<'granted' | 'awaited' | 'refused'> => {
    const [target] = await db.query<{ type: string }>('select type from actor where id = $1 and host_id is null and deleted_at is null', [
      targetId,
    ])
    if (!target) throw notFound('The followed actor is not of this server.')
    if (await isMutedBy(db.query, { ownActorId: targetId, actorId: followerId })) return 'refused'
    // The settings are about followers of the instance; everybody may follow accounts and channels.
    if (target.type !== 'Application') return 'granted'
    const { enabled, manual_approval } = config().followers.instance
    if (!enabled) return 'refused'
    return manual_approval ? 'awaited' : 'granted'
  }

  registry.timeout('follow', {
    of: followLifecycle,
    timedOut: (id) =>
      move(id, { type: 'TIMED_OUT', at: clock.now().getTime(), settings: settings() }, (unit, follow) => {
        const of = { aggregate: 'follow', id } as const
        if (follow.state === 'pending') unit.emit(of, 'FollowRequested', { followId: id })
        else unit.emit(of, 'FollowRejected', { followId: id })
      }),
  })

  return {
    /**
     * A local actor requests to follow another actor, local or remote. A repeated request is sent again. Throws `forbidden` for an actor
     * that the instance blocks. `automatic`: by configuration, not by a user.
     */
    async request({ followerId, targetId, automatic = false }: { followerId: number; targetId: number; automatic?: boolean }) {
      if (followerId === targetId) throw new DomainError('invalid', 'An actor cannot follow itself.')
      const local = await isLocal(targetId)
      if (!local && (await isMutedBy(db.query, { ownActorId: null, actorId: targetId }))) {
        throw new DomainError('forbidden', 'This actor is blocked here.')
      }
      const answer = local ? 'granted' : 'awaited'
      const event = { type: 'REQUESTED', by: 'us', at: clock.now().getTime(), answer } as const
      return await asking(followerId, targetId, async (followId) =>
        move(followId, event, async (unit, follow, before) => {
          const of = { aggregate: 'follow', id: followId } as const
          follow.url ??= urls.follow(await actorUrl(unit, followerId), followId)
          unit.emit(of, local ? 'FollowAccepted' : 'FollowRequested', { followId })
          if (automatic && before === 'none') unit.emit(of, 'FollowedAutomatically', { followId })
        }),
      )
    },

    /** The follower withdraws its follow. */
    withdraw(followId: number): Promise<void> {
      return move(followId, { type: 'WITHDRAWN' }, (unit, follow) => {
        if (follow.state === 'none') unit.emit({ aggregate: 'follow', id: followId }, 'FollowWithdrawn', endOf(follow))
      })
    },

    /** A remote actor requests to follow a local one. */
    async receiveRequest({ followerId, targetId, url }: { followerId: number; targetId: number; url: string }) {
      const answer = await askedOfUs(targetId, followerId)
      const event = { type: 'REQUESTED', by: 'them', at: clock.now().getTime(), answer } as const
      return await asking(followerId, targetId, async (followId) =>
        move(followId, event, (unit, follow, before) => {
          const earlier = before === 'pending' || before === 'accepted' ? follow.requestUrls : []
          follow.url = url
          follow.requestUrls = [...earlier.filter((one) => one !== url), url].slice(-REQUESTS_KEPT)
          const of = { aggregate: 'follow', id: followId } as const
          if (follow.state === 'none') return unit.emit(of, 'FollowerRemoved', endOf(follow))
          if (follow.state === 'accepted') unit.emit(of, 'FollowerAccepted', { followId })
          if (follow.state === 'rejected') unit.emit(of, 'FollowerRejected', { followId })
          else if (before !== 'pending' && before !== 'accepted') unit.emit(of, 'FollowerArrived', { followId })
        }),
      )
    },

    /** The followed side accepted or rejected an outgoing follow, or rejected one that it had accepted. */
    receiveAnswer(followId: number, answer: 'accepted' | 'rejected'): Promise<void> {
      return move(followId, { type: answer === 'accepted' ? 'ACCEPTED' : 'REJECTED' }, (unit) => {
        unit.emit({ aggregate: 'follow', id: followId }, answer === 'accepted' ? 'FollowAccepted' : 'FollowRejected', {
          followId,
        })
      })
    },

    /** The admin accepts or rejects a follower. Throws `invalid` if it has been answered. */
    async answerFollower(followId: number, answer: 'accepted' | 'rejected'): Promise<void> {
      try {
        await move(followId, { type: answer === 'accepted' ? 'ACCEPTED' : 'REJECTED' }, (unit) => {
          const event = answer === 'accepted' ? 'FollowerAccepted' : 'FollowerRejected'
          unit.emit({ aggregate: 'follow', id: followId }, event, { followId })
        })
      } catch (error) {
        if (error instanceof DomainError && error.kind === 'conflict') {
          throw new DomainError('invalid', `This follow is already ${answer}.`)
        }
        throw error
      }
    },

    /** The owner of the followed account or channel mutes the follower, which may request again when it is unmuted. */
    rejectMuted(followId: number): Promise<void> {
      return move(followId, { type: 'BLOCKED' }, (unit) => {
        unit.emit({ aggregate: 'follow', id: followId }, 'FollowerRejected', { followId })
      })
    },

    /** The admin removes a follower. */
    removeFollower(followId: number): Promise<void> {
      return move(followId, { type: 'REMOVED' }, (unit, follow) => {
        unit.emit({ aggregate: 'follow', id: followId }, 'FollowerRemoved', endOf(follow))
      })
    },
  }

  async function isLocal(actorId: number): Promise<boolean> {
    const [actor] = await db.query<{ local: boolean }>('select host_id is null as local from actor where id = $1 and deleted_at is null', [
      actorId,
    ])
    if (!actor) throw notFound('This actor does not exist.')
    return actor.local
  }
}

/** Data for the events of an ended follow, whose row is deleted. */
const endOf = ({ id, url, followerId, targetId }: Follow) => ({
  followId: id,
  followUrl: url ?? '',
  followerId,
  targetId,
})

async function actorUrl(unit: Unit, actorId: number): Promise<string> {
  const [actor] = await unit.query<{ url: string }>('select url from actor where id = $1', [actorId])
  if (!actor) throw notFound('This actor does not exist.')
  return actor.url
}
