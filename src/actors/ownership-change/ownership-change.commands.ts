// Ownership changes of videos: a user offers a video, another one accepts it into a channel or refuses it. The machine `ownership-change`
// decides which decisions are possible.

import type { Aliased } from '../../platform/database/index.ts'
import {
  initialOwnershipChange,
  type OwnershipChangeEvent,
  type OwnershipChangeState,
  ownershipChangeMachine,
} from '../../state-machines/ownership-change.ts'
import { type ActorDeps, advanceRow, DomainError, defineLifecycle, next, notFound, type Unit } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { assertMayChange, isFederated, isFederatedState, type Openness, refuseOverQuota } from '../video/index.ts'
import type { Video } from '../video/video.entity.ts'
import { moveIntoChannel } from '../video/video.writes.ts'

export interface Receiver {
  userId: number
  accountId: number
}

interface GivenVideo extends Openness {
  remote: boolean
  ownerAccountId: number
}

interface Offer extends Aliased<Video, 'state' | 'privacy'> {
  change: OwnershipChangeState
  receiverId: number
  videoId: number
  /** Bytes, as quotas count them. */
  size: number
  /** True if the giver still owns the video, without another owner in between, and is not being removed. */
  isGivers: boolean
}

const ownershipChangeLifecycle = defineLifecycle({
  table: 'ownership_change',
  machine: ownershipChangeMachine,
  initial: initialOwnershipChange,
  refusal: () => new DomainError('forbidden', 'This offer was accepted or refused already.'),
})

export type OwnershipChanges = ReturnType<typeof makeOwnershipChanges>

export function makeOwnershipChanges(deps: ActorDeps) {
  const { tell } = deps

  async function decide(
    changeId: number,
    by: Receiver,
    event: OwnershipChangeEvent,
    apply?: (unit: Unit, offer: Offer) => Promise<void>,
  ): Promise<void> {
    await tell({ aggregate: 'ownership_change', id: changeId }, async (unit) => {
      const offer = await offerOf(unit, changeId)
      if (offer.receiverId !== by.accountId) {
        throw new DomainError('forbidden', 'This video was not offered to you.')
      }
      const from = { id: changeId, state: offer.change }
      next(ownershipChangeLifecycle, from, event, unit.now)
      await apply?.(unit, offer)
      await advanceRow(unit, ownershipChangeLifecycle, from, event, {})
    })
  }

  return {
    /**
     * Offers a video to a local user; repeated offers are merged. Throws `not_found`, `forbidden` (another user's video or a remote one),
     * `invalid` if there is no such user, or if the user owns the video.
     */
    async give(videoId: number, by: NonNullable<Viewer>, username: string): Promise<void> {
      await tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const video = await givenVideo(unit, videoId)
        assertMayChange(video, by, 'CHANGE_VIDEO_OWNERSHIP')
        const [receiver] = await unit.query<{ id: number }>(
          `select a.id from account a join users u on u.id = a.user_id
           where lower(u.username) = lower($1) and u.state <> 'deleted' for key share of a`,
          [username],
        )
        if (!receiver) throw new DomainError('invalid', 'A video can only be given to a user of this server.')
        if (receiver.id === video.ownerAccountId) {
          throw new DomainError('invalid', 'This video belongs to this user already.')
        }
        await unit.query(
          `insert into ownership_change (state, video_id, initiator_id, giver_id, receiver_id, created_at, updated_at)
           values ($1, $2, $3, $4, $5, $6, $6)
           on conflict (video_id, giver_id, receiver_id) where state = 'waiting'
             do update set initiator_id = excluded.initiator_id, created_at = excluded.created_at, updated_at = excluded.updated_at
             where ${isStale('ownership_change')}`,
          [initialOwnershipChange.state, videoId, by.accountId, video.ownerAccountId, receiver.id, unit.now],
        )
      })
    },

    /**
     * Moves the video with all its data into a channel of the receiver. Throws `not_found`, `forbidden` (another user's offer, already
     * decided, or the video has another owner now), `invalid` for another user's channel, `too_large` (`quota_reached`).
     */
    async accept(changeId: number, by: Receiver, channelId: number | undefined): Promise<void> {
      await decide(changeId, by, { type: 'ACCEPTED' }, async (unit, { videoId, state, privacy, size, isGivers }) => {
        if (!isGivers) throw new DomainError('forbidden', 'This video is no longer the giver’s.')
        // First the video, then the quota, then the channel: the same lock order as in an upload.
        await refuseOverQuota(unit, by.userId, size)
        await moveInto(unit, videoId, channelId, by)
        if (isFederatedState(state) && isFederated(privacy)) {
          unit.emit({ aggregate: 'video', id: videoId }, 'VideoUpdated', { videoId })
        }
      })
    },

    /** Throws `not_found`, `forbidden` (another user's offer, or already decided). */
    refuse(changeId: number, by: Receiver): Promise<void> {
      return decide(changeId, by, { type: 'REFUSED' })
    },
  }
}

async function givenVideo({ query }: Unit, videoId: number): Promise<GivenVideo> {
  const [video] = await query<GivenVideo>(
    `select v.privacy, v.blocked, v.remote, c.account_id as "ownerAccountId"
     from video v join channel c on c.id = v.channel_id where v.id = $1 and v.state <> 'removed'`,
    [videoId],
  )
  if (!video) throw notFound('Video not found')
  return video
}

/** SQL: true if the video got another owner after the offer, which is invalid but still shown. */
const isStale = (offer: string): string =>
  `exists (select from ownership_change t where t.video_id = ${offer}.video_id and t.state = 'accepted'
     and t.updated_at >= ${offer}.created_at)`

/** Videos of a removed user are removed as well, so they cannot be accepted. */
async function offerOf({ query }: Unit, changeId: number): Promise<Offer> {
  const [offer] = await query<Offer>(
    `select o.state as change, o.receiver_id as "receiverId", v.id as "videoId", v.state, v.privacy,
       (coalesce((select sum(f.size) from video_file f where f.video_id = v.id), 0)
         + coalesce((select s.size from video_source s where s.video_id = v.id and s.kept_filename is not null), 0)
       )::bigint as size,
       c.account_id = o.giver_id and u.state <> 'deleted' and not ${isStale('o')} as "isGivers"
     from ownership_change o join video v on v.id = o.video_id join channel c on c.id = v.channel_id
       join account g on g.id = o.giver_id join users u on u.id = g.user_id
     where o.id = $1 and v.state <> 'removed'`,
    [changeId],
  )
  if (!offer) throw notFound('Video change ownership not found')
  return offer
}

/** Throws `invalid` unless the receiver owns the channel. */
async function moveInto(unit: Unit, videoId: number, channelId: number | undefined, by: Receiver) {
  const accountId = await moveIntoChannel(unit, videoId, channelId ?? null, by.accountId)
  if (accountId === undefined) throw new DomainError('invalid', 'There is no such channel on this server.')
  if (accountId !== by.accountId) throw new DomainError('invalid', 'This channel belongs to another user.')
}
