// The work under way on a user's own videos, for their pages: which step, and how far it is.

import type { Database } from '../../platform/database/index.ts'

/** The steps by the types of their jobs. */
const STEPS = {
  'video-import': 'import',
  'video-transcoding': 'transcoding',
  'vod-web-video-transcoding': 'transcoding',
  'vod-hls-transcoding': 'transcoding',
  'vod-audio-merge-transcoding': 'transcoding',
  'video-studio-edition': 'editing',
  'video-studio-transcoding': 'editing',
  'generate-video-storyboard': 'storyboard',
  transcribe: 'transcription',
  'video-transcription': 'transcription',
  'move-to-object-storage': 'move',
  'move-to-file-system': 'move',
} as const

export type WorkStep = (typeof STEPS)[keyof typeof STEPS]

export const workSteps = [...new Set(Object.values(STEPS))]

export interface WorkOnVideo {
  video: { id: number; uuid: string }
  step: WorkStep
  isRunning: boolean
  /** 0 to 100; of the jobs of several runners their mean. */
  progress: number
}

/** SQL: states of jobs that wait or run, also those of remote runners. */
const RUNNING = "('active', 'processing', 'completing')"
const OPEN = "('waiting', 'delayed', 'active', 'pending', 'waiting-for-parent', 'processing', 'completing')"

/** Begins with the open jobs, which are few beside those that ended; each finds its video by a key. What runs comes first. */
const WORK = `with work as (
  select v.id, v.uuid, step.name, bool_or(j.state in ${RUNNING}) as is_running, avg(coalesce(ladder.progress, j.progress))::float8 as progress
  from job j
    join unnest($2::text[], $3::text[]) as step (type, name) on step.type = j.type
    join video v on v.id = coalesce((j.data->>'videoId')::int,
      (select t.video_id from transcoding t where t.id = (j.data->>'transcodingId')::int),
      (select e.video_id from video_edition e where e.id = (j.data->>'editionId')::int),
      (select m.video_id from video_import m where m.id = (j.data->>'importId')::int))
    join channel c on c.id = v.channel_id
    left join lateral (
      select avg(r.progress) as progress from job r
      where j.uuid is not null and r.uuid is not null and r.data->>'transcodingId' = j.data->>'transcodingId'
        and r.state in ('pending', 'waiting-for-parent', 'processing', 'completing', 'completed')
    ) ladder on true
  where j.type = any($2) and j.state in ${OPEN} and c.account_id = $1 and v.state <> 'removed'
  group by v.id, v.uuid, step.name
)
select (select count(*)::int from work) as total, coalesce((
  select json_agg(json_build_object('video', json_build_object('id', id, 'uuid', uuid), 'step', name, 'isRunning', is_running,
    'progress', progress) order by is_running desc, id desc, name)
  from (select * from work order by is_running desc, id desc, name limit $4 offset $5) page
), '[]') as rows`

export async function listWorkOnVideos(
  db: Pick<Database, 'query'>,
  { accountId, start, count }: { accountId: number; start: number; count: number },
): Promise<{ total: number; rows: WorkOnVideo[] }> {
  const [page] = await db.query<{ total: number; rows: WorkOnVideo[] }>(WORK, [
    accountId,
    Object.keys(STEPS),
    Object.values(STEPS),
    count,
    start,
  ])
  return page ?? { total: 0, rows: [] }
}
