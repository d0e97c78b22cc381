// Notifies owners and moderators of blocks: those that a moderator makes and ends, and those of new videos that wait
// for one.

import { videoBlockTypes } from '../../video/index.ts'
import { rightsOfStaff } from '../rights.ts'
import { rule } from '../rule.ts'
import { staffWith } from './staff.ts'

const { manual: MANUAL, automatic: AUTOMATIC } = videoBlockTypes

/** The user of this server who has the video. */
const OWNED = 'video v join channel c on c.id = v.channel_id join account a on a.id = c.account_id and a.user_id is not null'

export const videoBlockRules = [
  rule({
    type: 'videoAutoBlacklistForModerators',
    on: ['VideoBlocked'],
    about: ['video_block_id'],
    audience: `
      select s.user_id, b.id::text as key, null::int as by_actor_id, b.id as video_block_id
      from video_block b join video v on v.id = b.video_id, ${staffWith(rightsOfStaff.videoAutoBlacklistForModerators)} s
      where b.video_id = $1 and b.type = ${AUTOMATIC} and v.state <> 'to-import'`,
    values: ({ videoId }) => [videoId],
  }),

  // An import is there to be looked at when its file is.
  rule({
    type: 'videoAutoBlacklistForModerators',
    on: ['VideoImportSucceeded'],
    about: ['video_block_id'],
    audience: `
      select s.user_id, b.id::text as key, null::int as by_actor_id, b.id as video_block_id
      from video_import i join video_block b on b.video_id = i.video_id,
        ${staffWith(rightsOfStaff.videoAutoBlacklistForModerators)} s
      where i.id = $1 and b.type = ${AUTOMATIC}`,
    values: ({ importId }) => [importId],
  }),

  rule({
    type: 'blacklistOnMyVideo',
    on: ['VideoBlocked'],
    about: ['video_block_id'],
    audience: `
      select a.user_id, b.id::text as key, null::int as by_actor_id, b.id as video_block_id
      from ${OWNED} join video_block b on b.video_id = v.id
      where v.id = $1 and b.type = ${MANUAL} and a.user_id is distinct from $2::int`,
    values: ({ videoId, byUserId }) => [videoId, byUserId ?? null],
  }),

  rule({
    type: 'unblacklistOnMyVideo',
    on: ['VideoBlockEnded'],
    about: ['video_id'],
    // A video that was blocked again meanwhile is told of by that block.
    audience: `
      select a.user_id, $2::text as key, null::int as by_actor_id, v.id as video_id
      from ${OWNED} where v.id = $1 and not v.blocked and a.user_id <> $3`,
    values: ({ videoId, blockId, automatic, byUserId }) => (automatic ? undefined : [videoId, String(blockId), byUserId]),
  }),

  // What had to wait for a moderator was never blocked in the eyes of its owner: it comes out now.
  rule({
    type: 'myVideoPublished',
    on: ['VideoBlockEnded'],
    about: ['video_id'],
    audience: `
      select a.user_id, concat('block ', $2::text) as key, null::int as by_actor_id, v.id as video_id
      from ${OWNED} where v.id = $1 and v.state = 'published' and not v.blocked and a.user_id <> $3
        and not exists (select from video_schedule p where p.video_id = v.id)`,
    values: ({ videoId, blockId, automatic, byUserId }) => (automatic ? [videoId, String(blockId), byUserId] : undefined),
  }),
]
