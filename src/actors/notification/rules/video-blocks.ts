// Notifications about blocks, for owners and moderators: manual blocks and their end, and new videos pending review.

import { videoBlockTypes } from '../../video/index.ts'
import { rightsOfStaff } from '../rights.ts'
import { rule } from '../rule.ts'
import { staffWith } from './staff.ts'

const { manual: MANUAL, automatic: AUTOMATIC } = videoBlockTypes

/** The local user who owns the video. */
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

  // An imported video can be reviewed when its file exists.
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
    // A video that was blocked again meanwhile has a notification of that block.
    audience: `
      select a.user_id, $2::text as key, null::int as by_actor_id, v.id as video_id
      from ${OWNED} where v.id = $1 and not v.blocked and a.user_id <> $3`,
    values: ({ videoId, blockId, automatic, byUserId }) => (automatic ? undefined : [videoId, String(blockId), byUserId]),
  }),

  // For its owner, a video pending review was never blocked: it is published now.
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
