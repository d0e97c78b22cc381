// Compares the store with the rows that name files: finds files without a row, and rows without their file.

import { type Dirent, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect } from '@jest/globals'
import { eventually } from '../../support/until.ts'
import { ask, type Child, type Place } from './child.ts'

export interface Orphans {
  /** Files and work folders without a row, relative to the storage folder. */
  unnamed: string[]
  /** Files that a row names and that are missing. */
  missing: string[]
}

interface Named {
  path: string
  /** Whether the file must exist; otherwise it may. */
  must: boolean
  folder: boolean
}

/** Folders below `storage/`, by kind of `pending_file`. */
const FOLDERS: Record<string, string> = {
  original_video_files: 'original-video-files',
  web_videos: 'web-videos',
  streaming_playlists: 'streaming-playlists',
  thumbnails: 'thumbnails',
  previews: 'previews',
  avatars: 'avatars',
  captions: 'captions',
  storyboards: 'storyboards',
  torrents: 'torrents',
  redundancy: 'redundancy',
  user_exports: 'user-exports',
  uploads: 'tmp-persistent',
  tmp: 'tmp',
}

// Files of videos with privacy 1, 2 and 4 are in the public folders.
const NAMED = `
  with local as (
    select id, 'hls/' || case when privacy in (1, 2, 4) then '' else 'private/' end || uuid || '/' as place,
      case when privacy in (1, 2, 4) then '' else 'private/' end as private from video where not remote
  )
  select 'streaming_playlists' as kind, place || f.filename as name, true as must, false as folder
    from video_file f join local on local.id = f.video_id where f.streaming_playlist_id is not null
  union all select 'streaming_playlists', place || f.playlist_filename, true, false
    from video_file f join local on local.id = f.video_id where f.streaming_playlist_id is not null
  union all select 'web_videos', private || f.filename, true, false
    from video_file f join local on local.id = f.video_id where f.streaming_playlist_id is null
  union all select 'torrents', f.torrent_filename, true, false
    from video_file f join local on local.id = f.video_id where f.torrent_filename is not null
  union all select 'streaming_playlists', place || p.playlist_filename, true, false
    from streaming_playlist p join local on local.id = p.video_id
  union all select 'streaming_playlists', place || p.segments_sha256_filename, true, false
    from streaming_playlist p join local on local.id = p.video_id
  union all select case t.type when 1 then 'thumbnails' else 'previews' end, t.filename, true, false
    from thumbnail t join local on local.id = t.video_id where t.on_disk
  union all select 'storyboards', b.filename, true, false from storyboard b join local on local.id = b.video_id
  union all select 'thumbnails', p.thumbnail_filename, true, false
    from playlist p where p.thumbnail_filename is not null and not p.remote
  union all select 'avatars', i.filename, true, false from actor_image i where i.on_disk
  union all select 'original_video_files', s.kept_filename, true, false
    from video_source s join local on local.id = s.video_id where s.kept_filename is not null
  union all select 'user_exports', filename, true, false from user_export where filename is not null
  union all select 'uploads', token, received > 0 and place is null, false
    from upload where state in ('created', 'receiving', 'assembled')
  union all select 'uploads', token || picture, false, false
    from upload, unnest(array['-thumbnail.jpg', '-preview.jpg']) as picture
    where state in ('created', 'receiving', 'assembled')
  union all select 'redundancy', path, file_id is not null, streaming_playlist_id is not null
    from redundancy where path is not null and state in ('stored', 'announced')
  union all select 'uploads', archive, true, false from user_import where archive is not null
  union all select 'uploads', filename, true, false from video_edition_task where filename is not null
  union all select kind, filename, true, false from video_coming_file
  union all select kind, name, false, folder from pending_file`

/** Checks once. While the node works, the result may name files that are being written. */
export async function findOrphans(place: Place): Promise<Orphans> {
  const storage = join(typeof place === 'string' ? place : place.dataDir, 'storage')
  const rows = await ask<{ kind: string; name: string; must: boolean; folder: boolean }>(place, NAMED)
  const named: Named[] = rows.map(({ kind, name, ...rest }) => ({ path: `${FOLDERS[kind] ?? kind}/${name}`, ...rest }))
  const files = new Set(listFiles(storage).filter((file) => !file.startsWith('logs/')))
  const workFolders = entriesOf(join(storage, 'tmp')).flatMap((entry) => (entry.isDirectory() ? [`tmp/${entry.name}/`] : []))
  const exact = new Set(named.filter(({ folder }) => !folder).map(({ path }) => path))
  const folders = named.filter(({ folder }) => folder).map(({ path }) => `${path}/`)
  return {
    unnamed: [...files, ...workFolders].filter((file) => !exact.has(file) && !folders.some((folder) => file.startsWith(folder))).sort(),
    missing: named.flatMap(({ path, must }) => (must && !files.has(path) ? [path] : [])).sort(),
  }
}

/** Unfinished work that no worker continues, one line each. */
async function findStuckWork(place: Place): Promise<string[]> {
  const rows = await ask<{ line: string }>(
    place,
    `select format('job %s is %s: %s', type, state, coalesce(error, lease_owner, '')) as line from job
       where state not in ('completed', 'cancelled') and not (type = 'activitypub-cleaner' and state = 'delayed')
     union all select format('lane %s %s is leased or due', kind, key) from lane
       where lease_owner is not null or lease_until is not null or due_at <= now()
     union all select format('upload %s is leased', id) from upload where lease_owner is not null
     union all select format('upload %s is %s', id, state) from upload where state not in ('finished', 'cancelled')
     union all select format('transcoding %s is %s (%s)', id, state, coalesce(error, lease_owner, '')) from transcoding
       where state <> 'done' or lease_owner is not null
     union all select format('copy %s is %s', id, state) from redundancy
       where state not in ('announced', 'failed') or lease_owner is not null
     union all select format('import %s is %s (%s)', id, state, coalesce(context->>'error', lease_owner, ''))
       from video_import where state <> 'success' or lease_owner is not null
     union all select format('import of a user %s is %s (%s)', id, state, coalesce(context->>'error', lease_owner, ''))
       from user_import where state not in ('completed', 'cancelled') or lease_owner is not null
     union all select format('export %s is %s (%s)', id, state, coalesce(context->>'error', lease_owner, ''))
       from user_export where state <> 'completed' or lease_owner is not null
     union all select format('video %s is %s', id, state) from video where state <> 'published'
     union all select format('event %s waits: %s', event, coalesce(error, '')) from outbox
     union all select format('file %s %s is pending', kind, name) from pending_file`,
  )
  return rows.map(({ line }) => line)
}

/** Waits until no work is left, and rows and files agree. */
export async function untilSettled(place: Place): Promise<void> {
  await eventually(async () => {
    expect(await findStuckWork(place)).toEqual([])
    expect(await findOrphans(place)).toEqual({ unnamed: [], missing: [] })
  })
}

/** Adds stuck work and the node's last output to a failure of `work`. */
export async function explained<T>(node: Pick<Child, 'said'>, place: Place, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const stuck = await findStuckWork(place).catch((cause) => [String(cause)])
    const words = node.said.filter((line) => !isRequest(line)).slice(-FINAL_ACTIVITIES)
    throw new Error([String(error), 'Stuck:', ...stuck, 'The node said:', ...words].join('\n'), { cause: error })
  }
}

const FINAL_ACTIVITIES = 40

const isRequest = (line: string): boolean => line.startsWith('{"level":30') && line.includes('"tags":["http"]')

function listFiles(folder: string, root = folder): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? listFiles(path, root) : [relative(root, path)]
  })
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
