// Notifications for owners about their videos. For subscribers of a channel see new-video.ts.

import { rule } from '../rule.ts'

const OWN = `from video join channel on channel.id = video.channel_id join account owner on owner.id = channel.account_id
  where video.id = $1 and not video.remote and owner.user_id is not null`

/** Notifies its owner of an automatic publication: after its transcoding, or by its schedule. Not after other events. */
export const published = rule({
  on: ['VideoShown'],
  type: 'myVideoPublished',
  about: ['video_id'],
  values: ({ videoId, after }) => (after === 'transcoding' || after === 'schedule' ? [videoId, after === 'transcoding'] : undefined),
  audience: `
    select owner.user_id, video.id::text as key, null::int as by_actor_id, video.id as video_id ${OWN}
      and video.state = 'published' and not video.blocked and (video.wait_transcoding or not $2)
      and not exists (select from video_schedule where video_schedule.video_id = video.id)`,
})

export const transcribed = rule({
  on: ['VideoTranscribed'],
  type: 'myVideoTranscriptionGenerated',
  about: ['video_caption_id'],
  values: ({ videoId, captionId }) => [videoId, captionId],
  audience: `select owner.user_id, $2::int::text as key, null::int as by_actor_id, $2::int as video_caption_id ${OWN}
    and exists (select from video_caption where video_caption.id = $2)`,
})

export const edited = rule({
  on: ['VideoEdited'],
  type: 'myVideoStudioEditionFinished',
  about: ['video_id'],
  values: ({ videoId, editionId }) => [videoId, editionId],
  audience: `select owner.user_id, $2::int::text as key, null::int as by_actor_id, video.id as video_id ${OWN}`,
})
