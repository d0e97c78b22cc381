// The user's videos: their files first, then `videos`, which names those that were written.

import { MediaError } from '../../../media/index.ts'
import type { PartItem } from '../../user-archive/index.ts'
import { labelledState } from '../../video/index.ts'
import type { ArchivedVideo } from '../archive-documents.ts'
import type { Export } from '../export.ts'
import { iso } from '../rows.ts'
import { addressesOf } from './video-addresses.ts'
import { writeVideoFiles } from './video-files.ts'
import { measureVideos, type VideoRow, videoRows } from './video-rows.ts'

const DISABLED = 2

/** Returns the paths of each video in the archive. Throws MediaError `disk-full` before writing anything if the space is insufficient. */
export async function writeVideos(of: Export): Promise<Map<number, ArchivedVideo>> {
  const archived = new Map<number, ArchivedVideo>()
  const { count, bytes } = await measureVideos(of)
  if (of.withVideoFiles) await refuseWithoutRoom(of, bytes)
  let done = 0
  for await (const row of videoRows(of)) {
    const files = await writeVideoFiles(of, row)
    if (files) archived.set(row.key, files)
    done += 1
    of.progress(Math.min(100, (done * 100) / Math.max(1, count)))
  }
  await of.writer.list('videos', items(of, archived))
  return archived
}

/** A full disk would stop all other writers. */
async function refuseWithoutRoom({ store }: Export, bytes: number): Promise<void> {
  const room = await store.room('user_exports')
  if (!room || bytes <= room.free) return
  if (bytes > room.total) throw new Error('The archive would be larger than the disk.')
  throw new MediaError('disk-full', 'There is no room on the disk for the archive.')
}

async function* items(of: Export, archived: ReadonlyMap<number, ArchivedVideo>): AsyncGenerator<PartItem<'videos'>> {
  for await (const row of videoRows(of)) {
    const files = archived.get(row.key)
    // It was added after the files were written.
    if (files) yield toItem(of, row, files)
  }
}

function toItem({ urls }: Export, row: VideoRow, files: ArchivedVideo): PartItem<'videos'> {
  const { originallyPublishedAt, live, source } = row
  const at = (path: string) => `${urls.origin}/lazy-static/${path}`
  const picture = (type: number, folder: string) => {
    const filename = row.pictures.find((one) => one.type === type)?.filename
    return filename === undefined ? null : at(`${folder}/${filename}`)
  }
  return {
    uuid: row.uuid,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
    publishedAt: iso(row.publishedAt),
    ...(originallyPublishedAt === null ? {} : { originallyPublishedAt: iso(originallyPublishedAt) }),
    name: row.name,
    category: row.category,
    licence: row.licence,
    language: row.language,
    tags: row.tags,
    privacy: row.privacy,
    passwords: row.passwords,
    duration: row.duration,
    description: row.description,
    support: row.support,
    isLive: row.isLive,
    ...(live === null ? {} : { live }),
    url: row.url,
    thumbnailUrl: picture(1, 'thumbnails'),
    previewUrl: picture(2, 'previews'),
    views: row.views,
    likes: row.likes,
    dislikes: row.dislikes,
    nsfw: row.nsfw,
    commentsPolicy: row.commentsPolicy,
    commentsEnabled: row.commentsPolicy !== DISABLED,
    downloadEnabled: row.downloadEnabled,
    waitTranscoding: row.waitTranscoding,
    state: labelledState(row.state).id ?? 0,
    channel: { name: row.channel },
    captions: row.captions.map(({ language, filename, automatic, createdAt, updatedAt }) => ({
      createdAt: iso(createdAt),
      updatedAt: iso(updatedAt),
      language,
      filename,
      automaticallyGenerated: automatic,
      fileUrl: at(`video-captions/${filename}`),
    })),
    chapters: row.chapters,
    ...addressesOf(urls, row),
    ...(source === null ? {} : { source: toSource(source) }),
    archiveFiles: { videoFile: files.videoFile?.path ?? null, thumbnail: files.thumbnail, captions: files.captions },
  }
}

const toSource = ({ keptFilename: _, ...source }: NonNullable<VideoRow['source']>) => source
