// The data of a job in the terms of PeerTube's clients: the rows contain internal ids.

import type { JobTypeName } from '../../config/index.ts'
import { isFederated } from '../video/index.ts'

type Data = Record<string, unknown>

/** The objects behind the ids of a job; null if they are removed or were never set. */
export interface JobSubject {
  video: {
    uuid: string
    url: string
    privacy: number
    state: string
    /** Null unless there is exactly one. */
    onlyFileId: number | null
  } | null
  actorUrl: string | null
  import: { type: string } | null
  /** Of a studio edition that is not finished. */
  tasks: { name: string; start: number | null; end: number | null; file: string | null }[] | null
}

/** JSON of the objects of the job `j` and its video `v`. */
export const SUBJECT = `json_build_object(
  'video', case when v.id is not null then json_build_object('uuid', v.uuid, 'url', v.url, 'privacy', v.privacy,
    'state', v.state, 'onlyFileId', case when j.type = 'manage-video-torrent' then (
      select case when count(*) = 1 then min(f.id) end from video_file f
      where f.video_id = v.id and f.filename is not null and not f.outdated) end) end,
  'actorUrl', case when j.type = 'activitypub-refresher' then (
    select x.url from actor x where x.id = (j.data->>'actorId')::int) end,
  'import', (select json_build_object('type',
      case when m.magnet_uri is not null then 'magnet-uri' when m.torrent_name is not null then 'torrent-file' else 'youtube-dl' end)
    from video_import m where m.id = (j.data->>'importId')::int),
  'tasks', (select json_agg(json_build_object('name', k.name, 'start', k.start_at, 'end', k.end_at, 'file', k.filename)
      order by k.position)
    from video_edition_task k where k.edition_id = (j.data->>'editionId')::int))`

type Known = Exclude<JobSubject['video'], null>

/** By local type: those that correspond to the contract's. Only known facts are shown. */
const WORDED: Readonly<Record<string, (data: Data, subject: JobSubject) => Data>> = {
  'generate-video-storyboard': (data, { video }) => ({
    ...byUuid(data, video),
    // A video that is not published yet is announced with its storyboard.
    ...(video ? { federate: video.state === 'published' && isFederated(video.privacy) } : {}),
  }),
  notify: (data, { video }) => ({ action: 'new-video', ...byUuid(data, video) }),
  'federate-video': (data, { video }) => ({ ...byUuid(data, video), isNewVideoForFederation: false }),
  'manage-video-torrent': (data, { video }) => ({
    ...data,
    ...(video?.onlyFileId ? { videoFileId: video.onlyFileId } : {}),
  }),
  'video-redundancy': (data) => data,
  'move-to-object-storage': moved,
  'move-to-file-system': moved,
  'video-studio-edition': (data, { video, tasks }) => ({
    ...byUuid(data, video),
    ...(tasks ? { tasks: tasks.map(toTask) } : {}),
  }),
  'video-import': ({ importId, ...data }, { video, ...subject }) => ({
    ...byUuid(data, video),
    videoImportId: importId,
    ...subject.import,
  }),
  'activitypub-follow': ({ followerId, followBackOf, fromIndex, handle, ...data }) => ({
    ...data,
    ...(typeof handle === 'string' ? accountIn(handle) : {}),
    ...(followerId === undefined ? {} : { followerActorId: followerId, assertIsChannel: true }),
    ...(fromIndex === undefined ? {} : { isAutoFollow: true }),
    ...(followBackOf === undefined ? {} : { isAutoFollow: true, followBackOf }),
  }),
  'activitypub-refresher': (data, { video, actorUrl }) => {
    if (video) return { ...data, type: 'video', url: video.url }
    return actorUrl === null ? data : { ...data, type: 'actor', url: actorUrl }
  },
}

/** The data to show for a local job, listed as `type`. */
export function payloadOf(own: string, type: JobTypeName, data: Data, subject: JobSubject): Data {
  const worded = Object.hasOwn(WORDED, own) ? WORDED[own]?.(data, subject) : undefined
  return {
    ...(worded ?? (subject.video ? { ...data, videoUUID: subject.video.uuid } : data)),
    // Its local name, if that is more specific.
    ...(own === type ? {} : { task: own }),
  }
}

/** The id stays if the object is removed. */
function byUuid(data: Data, video: Known | null): Data {
  if (!video) return data
  const { videoId: _, ...others } = data
  return { ...others, videoUUID: video.uuid }
}

function moved(data: Data, { video }: JobSubject): Data {
  return video ? { ...byUuid(data, video), isNewVideo: false } : data
}

function accountIn(handle: string): Data {
  const [name, host] = handle.replace(/^@/, '').split('@', 2)
  return { name, host }
}

const toTask = ({ name, start, end, file }: NonNullable<JobSubject['tasks']>[number]) => ({
  name,
  options: name === 'cut' ? { ...(start === null ? {} : { start }), ...(end === null ? {} : { end }) } : { file },
})
