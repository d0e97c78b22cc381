// Makes a video of a file that arrived: probes it, places the files, stores the rows.

import { newUuid, toShortUuid } from '../../platform/ids.ts'
import { type AutomaticTags, tagVideo } from '../automatic-tag/index.ts'
import { startChapters } from '../chapter/index.ts'
import { type ActorDeps, DomainError, type Unit } from '../runtime/index.ts'
import type { FileDraft, GivenPictures, InspectFile } from './files/inspect-file.ts'
import type { Leases, PendingFiles } from './files/pending-files.ts'
import type { PlaceFiles } from './files/place-files.ts'
import { queuePictures } from './files/queue-pictures.ts'
import { playedAtOnce, takeFile } from './files/take-file.ts'
import { insertDetails, rowOf, sourceOf } from './new-video-rows.ts'
import { advanceAndAnnounce } from './publish-video.ts'
import { inheritBlock, mustWait, quarantine } from './quarantine.ts'
import { overQuota, quotaLeft, refuseOverQuota } from './quota.ts'
import { Thumbnail, Video, VideoSource } from './video.entity.ts'
import type { CreatedVideo, NewVideoFields, VideoDraft } from './video-draft.ts'

interface InspectOptions {
  userId: number
  fields: NewVideoFields
  inputFilename: string
  /** The file. It is only read. */
  path: string
  pictures: GivenPictures
  /** True if it will be blocked, apart from the review of new videos. */
  blocked?: boolean
  /** Where an earlier attempt placed the file, or was about to. */
  place?: FileDraft['place'] | undefined
  signal?: AbortSignal | undefined
}

interface InsertOptions {
  isNews?: boolean
  exceedsQuota?: boolean
  madeFrom?: number
}

export type CreateVideo = ReturnType<typeof makeCreateVideo>

export function makeCreateVideo(
  deps: ActorDeps & {
    inspectFile: InspectFile
    pendingFiles: PendingFiles
    placeFiles: PlaceFiles
    leases: Leases
    automaticTags: AutomaticTags
  },
) {
  const { db, tell, config, urls, inspectFile, pendingFiles, placeFiles, leases, automaticTags } = deps

  /** Throws `invalid` unless the user owns the channel. */
  async function checkChannel(userId: number, channelId: number): Promise<void> {
    const [channel] = await db.query<{ user_id: number | null }>(
      "select a.user_id from channel c join account a on a.id = c.account_id where c.id = $1 and c.state = 'active'",
      [channelId],
    )
    refuseChannel(channel, userId)
  }

  /** Probes the file. Throws `unprocessable` if it cannot be used. Writes nothing. */
  async function inspect({ userId, fields, blocked = false, ...file }: InspectOptions): Promise<VideoDraft> {
    const waits = await mustWait(db.query, { userId }, config())
    const draft = await inspectFile.inspect({ ...file, video: { ...fields, blocked: blocked || waits } })
    return { ...draft, uuid: newUuid(), userId, fields, automaticTags: await automaticTags.ofVideo(fields) }
  }

  /**
   * Stores the rows, with the jobs that make the pictures and the renditions. `isNews: false` does not notify local subscribers,
   * `exceedsQuota` takes what exceeds a quota, `madeFrom` is the id of a locked video whose block it gets. Throws `invalid` and `too_large`
   * like the checks.
   */
  async function insert(unit: Unit, draft: VideoDraft, options: InsertOptions = {}): Promise<CreatedVideo> {
    const { isNews = true, exceedsQuota = false, madeFrom } = options
    const { fields, uuid, userId } = draft
    if (!exceedsQuota) await refuseOverQuota(unit, userId, draft.probe.size)
    await lockChannel(unit, userId, fields.channelId)

    const waits = await mustWait(unit.query, { userId }, config())
    const played = playedAtOnce(draft, fields)
    const video = unit.em.create(Video, {
      ...rowOf(draft),
      url: urls.video(uuid),
      createdAt: unit.now,
      updatedAt: unit.now,
      publishedAt: unit.now,
    })
    const { waitTranscoding } = fields
    const added = { type: 'ADDED', source: 'upload', isAwaited: !played, waitTranscoding } as const
    // The first flush assigns the id that events and children need.
    await unit.em.flush()
    unit.created({ aggregate: 'video', id: video.id })
    if (!isNews) await unit.query('update video set subscribers_told = true where id = $1', [video.id])
    if (madeFrom !== undefined) await inheritBlock(unit, video, madeFrom)
    if (waits) await quarantine(unit, video, { unfederated: true })
    advanceAndAnnounce(unit, video, [added])
    for (const { type, filename, image, generated } of draft.pictures) {
      const { width, height } = image
      const of = { videoId: video.id, type, filename, width, height, onDisk: image.bytes !== null, createdAt: unit.now }
      unit.em.create(Thumbnail, { ...of, automaticallyGenerated: generated })
    }
    queuePictures(unit, video.id, draft.pictures)
    unit.em.create(VideoSource, { ...sourceOf(draft), videoId: video.id, createdAt: unit.now })
    await pendingFiles.settle(unit.query, inspectFile.filesOf(draft))
    await takeFile(unit, video, { draft, played }, { config: config(), pendingFiles, placeFiles })
    await insertDetails(unit, video.id, fields, config())
    if (draft.automaticTags.length > 0) await tagVideo(unit.query, video.id, draft.automaticTags)
    await startChapters(unit, video.id, {
      description: fields.description,
      ofFile: draft.probe.metadata.chapters,
    })
    return { id: video.id, uuid, shortUUID: toShortUuid(uuid) }
  }

  return {
    checkChannel,
    /** Bytes that the user may add; Infinity without quotas. */
    quotaLeft(userId: number): Promise<number> {
      return quotaLeft(db, userId)
    },
    /** Throws `too_large` (`quota_reached`) if these bytes exceed a quota of the user. */
    async checkQuota(userId: number, bytes: number): Promise<void> {
      if (bytes > (await quotaLeft(db, userId))) throw overQuota()
    },
    /** Resizes an uploaded picture. Throws MediaError if it is not a picture. */
    fitPicture: inspectFile.fitPicture,
    inspect,
    /** Moves the file into the store and writes the pictures that were sent. Idempotent. */
    place: inspectFile.place,
    insert,
    /** Removes the pictures of a draft that was not stored and, with `source`, its file. */
    discard: inspectFile.discard,
    /** All steps at once, for a file that the caller gives up. Removes everything if the video is refused. */
    async createFrom(options: InspectOptions): Promise<CreatedVideo> {
      await checkChannel(options.userId, options.fields.channelId)
      const draft = await inspect(options)
      try {
        await pendingFiles.reserve(leases.owner, [draft.place])
        await inspectFile.place(draft, options.path)
        return await tell.create((unit) => insert(unit, draft))
      } catch (error) {
        // The response to a commit can be lost. Then the rows exist and own the files.
        const [stored] = await db.query('select id from video where uuid = $1', [draft.uuid])
        if (!stored) await inspectFile.discard(draft, { source: true })
        throw error
      }
    },
  }
}

/** Locks the channel until the end of the transaction. Throws `invalid` unless the user owns it. */
export async function lockChannel(unit: Unit, userId: number, channelId: number): Promise<void> {
  const [channel] = await unit.query<{ user_id: number | null }>(
    `select a.user_id from channel c join account a on a.id = c.account_id
     where c.id = $1 and c.state = 'active' for key share of c`,
    [channelId],
  )
  refuseChannel(channel, userId)
}

function refuseChannel(channel: { user_id: number | null } | undefined, userId: number): void {
  if (!channel) throw new DomainError('invalid', 'This video channel does not exist on this server.')
  if (channel.user_id !== userId) {
    throw new DomainError('invalid', 'This video channel does not belong to this account.')
  }
}
