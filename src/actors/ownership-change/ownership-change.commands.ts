// Videos that change their owner: one offers a video, the other one takes it into a channel or refuses it. The machine
// `ownership-change` decides what can still be decided.

import {
  initialOwnershipChange,
  type OwnershipChangeEvent,
  type OwnershipChangeState,
  ownershipChangeMachine,
} from '../../state-machines/ownership-change.ts'
import { can, step } from '../../state-machines/step.ts'
import { type ActorDeps, DomainError, notFound, type Unit } from '../runtime/index.ts'
import { assertMayChange, type CreateVideo, isFederated, type Openness, type Viewer } from '../video/index.ts'

export interface OwnershipChanges {
  /**
   * Offers a video to a user of this server; asked twice it is one offer. Throws `not_found`, `forbidden` (another user's,
   * another server's), `invalid` when there is no such user here, or the video is theirs.
   */
  give(videoId: number, by: NonNullable<Viewer>, username: string): Promise<void>
  /**
   * Moves the video with all that belongs to it into a channel of who takes it. Throws `not_found`, `forbidden` (somebody
   * else's offer, decided already, or no longer the giver's video), `invalid` for a channel that is not theirs,
   * `too_large` (`quota_reached`).
   */
  accept(changeId: number, by: Receiver, channelId: number | undefined): Promise<void>
  /** Throws `not_found`, `forbidden` (somebody else's offer, or decided already). */
  refuse(changeId: number, by: Receiver): Promise<void>
}

export interface Receiver {
  userId: number
  accountId: number
}

interface OfferedVideo extends Openness {
  remote: boolean
  state: string
  ownerAccountId: number
}

interface Change {
  state: OwnershipChangeState
  giverId: number
  receiverId: number
}

const OURS = 'Changing video ownership to a remote account is not supported yet'
const MISSING = 'Video change ownership not found'

export function makeOwnershipChanges(deps: ActorDeps & Pick<CreateVideo, 'takeQuota'>): OwnershipChanges {
  const { db, tell, takeQuota } = deps

  /** Changes one offer while its video is locked, so that a video goes to one of several only. */
  async function decide(
    changeId: number,
    by: Receiver,
    event: OwnershipChangeEvent,
    apply?: (unit: Unit, videoId: number, change: Change) => Promise<void>,
  ): Promise<void> {
    const [offered] = await db.query<{ videoId: number }>(
      'select video_id as "videoId" from ownership_change where id = $1',
      [changeId],
    )
    if (!offered) throw notFound(MISSING)
    const { videoId } = offered
    await tell({ aggregate: 'video', id: videoId }, async (unit) => {
      const [change] = await unit.query<Change>(
        `select o.state, o.giver_id as "giverId", o.receiver_id as "receiverId"
         from ownership_change o join video v on v.id = o.video_id where o.id = $1 and v.state <> 'removed'`,
        [changeId],
      )
      if (!change) throw notFound(MISSING)
      if (change.receiverId !== by.accountId) {
        throw new DomainError('forbidden', 'This video was not offered to you.')
      }
      const from = { state: change.state, context: initialOwnershipChange.context }
      if (!can(ownershipChangeMachine, from, event)) {
        throw new DomainError('forbidden', 'This offer was accepted or refused already.')
      }
      await apply?.(unit, videoId, change)
      await unit.query('update ownership_change set state = $2, updated_at = $3 where id = $1', [
        changeId,
        step(ownershipChangeMachine, from, event).state,
        unit.now,
      ])
    })
  }

  return {
    async give(videoId, by, username) {
      await tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const video = await videoOf(unit, videoId)
        assertMayChange(video, by, 'CHANGE_VIDEO_OWNERSHIP')
        const [receiver] = await unit.query<{ id: number }>(
          `select a.id from account a join users u on u.id = a.user_id
           where lower(u.username) = lower($1) and u.state <> 'deleted' for key share of a`,
          [username],
        )
        if (!receiver) throw new DomainError('invalid', OURS)
        if (receiver.id === video.ownerAccountId) {
          throw new DomainError('invalid', 'This video belongs to this user already.')
        }
        await unit.query(
          `insert into ownership_change (state, video_id, initiator_id, giver_id, receiver_id, created_at, updated_at)
           values ($1, $2, $3, $4, $5, $6, $6)
           on conflict (video_id, giver_id, receiver_id) where state = 'waiting' do nothing`,
          [initialOwnershipChange.state, videoId, by.accountId, video.ownerAccountId, receiver.id, unit.now],
        )
      })
    },

    async accept(changeId, by, channelId) {
      await decide(changeId, by, { type: 'ACCEPTED' }, async (unit, videoId, { giverId }) => {
        const video = await videoOf(unit, videoId)
        if (video.ownerAccountId !== giverId) {
          throw new DomainError('forbidden', 'This video belongs to somebody else by now.')
        }
        await assertStays(unit, giverId)
        // What is given is in nobody's way: the locks of the video, the quota, the channel are taken in this order.
        await takeQuota(unit, by.userId, await sizeOf(unit, videoId))
        await checkChannel(unit, channelId, by)
        await unit.query('update video set channel_id = $2, updated_at = $3 where id = $1', [
          videoId,
          channelId,
          unit.now,
        ])
        if (video.state === 'published' && isFederated(video.privacy)) {
          unit.emit({ aggregate: 'video', id: videoId }, 'VideoUpdated', { videoId })
        }
      })
    },

    refuse: (changeId, by) => decide(changeId, by, { type: 'REFUSED' }),
  }
}

async function videoOf({ query }: Unit, videoId: number): Promise<OfferedVideo> {
  const [video] = await query<OfferedVideo>(
    `select v.privacy, v.blocked, v.remote, v.state, c.account_id as "ownerAccountId"
     from video v join channel c on c.id = v.channel_id where v.id = $1 and v.state <> 'removed'`,
    [videoId],
  )
  if (!video) throw notFound('Video not found')
  return video
}

/** What a removed user had goes with the user. */
async function assertStays({ query }: Unit, giverId: number): Promise<void> {
  const [giver] = await query(
    `select 1 from account a join users u on u.id = a.user_id where a.id = $1 and u.state <> 'deleted' for key share of u`,
    [giverId],
  )
  if (!giver) throw notFound(MISSING)
}

/** Bytes, as quotas count them. */
async function sizeOf({ query }: Unit, videoId: number): Promise<number> {
  const [row] = await query<{ size: number }>(
    `select (coalesce((select sum(f.size) from video_file f where f.video_id = $1), 0)
       + coalesce((select s.size from video_source s where s.video_id = $1 and s.kept_filename is not null), 0))::bigint
       as size`,
    [videoId],
  )
  return row?.size ?? 0
}

async function checkChannel({ query }: Unit, channelId: number | undefined, by: Receiver): Promise<void> {
  const [channel] = await query<{ accountId: number }>(
    `select c.account_id as "accountId" from channel c join actor x on x.id = c.actor_id
     where c.id = $1 and x.host_id is null and x.deleted_at is null for key share of c`,
    [channelId ?? null],
  )
  if (!channel) throw new DomainError('invalid', 'Unknown video "video channel" for this instance.')
  if (channel.accountId !== by.accountId) {
    throw new DomainError('invalid', 'Unknown video "video channel" for this account.')
  }
}
