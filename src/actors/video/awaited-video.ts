// A video whose rows exist before its file: it waits for its import, whose file is stored like that of an upload, or for its stream.

import { isDeepStrictEqual } from 'node:util'
import type { EncodedImage, FileRef, Store } from '../../media/index.ts'
import { newUuid, toShortUuid } from '../../platform/ids.ts'
import { type AutomaticTags, tagVideo } from '../automatic-tag/index.ts'
import { startChapters } from '../chapter/index.ts'
import { type ActorDeps, advance, DomainError, type Unit } from '../runtime/index.ts'
import { lockChannel } from './create-video.ts'
import {
  type DraftPicture,
  type FileDraft,
  type GivenPictures,
  type InspectFile,
  pictureNames,
  refOfPicture,
  uploadedPictures,
} from './files/inspect-file.ts'
import type { Leases, PendingFiles } from './files/pending-files.ts'
import type { PlaceFiles } from './files/place-files.ts'
import { queuePictures } from './files/queue-pictures.ts'
import { playedAtOnce, takeFile } from './files/take-file.ts'
import { dropPlaylist } from './files.writes.ts'
import { dimensionsOf, insertDetails, rowWithoutFile, sourceOf } from './new-video-rows.ts'
import { advanceAndAnnounce, videoLifecycle } from './publish-video.ts'
import { mustWait, quarantine } from './quarantine.ts'
import { refuseOverQuota } from './quota.ts'
import { removeUnpublished } from './remove-video.ts'
import { removalOf, replacePicture, textOf } from './update-video.ts'
import { isFederatedState, Thumbnail, Video, VideoSource } from './video.entity.ts'
import { isFederated } from './video.policy.ts'
import type { CreatedVideo, NewVideoFields } from './video-draft.ts'

/** Fields that are known only when the file has arrived. */
export type FoundFields = Partial<
  Pick<NewVideoFields, 'name' | 'description' | 'tags' | 'category' | 'licence' | 'language' | 'nsfw' | 'originallyPublishedAt'>
>

export interface Filling {
  videoId: number
  draft: FileDraft
  /** Result of `tagsOf`, computed before the transaction. */
  automaticTags: string[]
  /** Replaces defaults that nobody chose or changed. `asked` holds the fields that the video was created with. */
  found: FoundFields
  asked: NewVideoFields
  /** In the format of ffprobe. Without it, chapters come from the description or the file. */
  chapters?: readonly unknown[] | undefined
}

/** A stored picture that no row names yet. */
export type PlacedPicture = DraftPicture & { image: EncodedImage }

/** What the rows contain of such a picture. */
export type NamedPicture = Pick<PlacedPicture, 'type' | 'filename'> & Record<'width' | 'height', number | null>

export const namedAs = ({ type, filename, image: { width, height } }: PlacedPicture): NamedPicture => ({ type, filename, width, height })

export interface AwaitedVideo {
  userId: number
  source: 'import' | 'live'
  fields: NewVideoFields
  pictures?: readonly NamedPicture[]
}

export type AwaitedVideos = ReturnType<typeof makeAwaitedVideos>

export function makeAwaitedVideos(
  deps: ActorDeps & {
    store: Store
    inspectFile: InspectFile
    pendingFiles: PendingFiles
    placeFiles: PlaceFiles
    leases: Leases
    automaticTags: AutomaticTags
  },
) {
  const { db, tell, config, urls, store, inspectFile, pendingFiles, placeFiles, leases, automaticTags } = deps

  /**
   * Runs in the transaction that locks the video, when its file has arrived. Throws `gone` if the video waits for no file, and `too_large`
   * if the file exceeds the quota of its owner.
   */
  async function fill(unit: Unit, filling: Filling): Promise<void> {
    const { videoId, draft, found, asked, chapters } = filling
    const video = await unit.em.findOneOrFail(Video, videoId)
    if (video.state !== 'to-import') throw new DomainError('gone', 'This video waits for no file.')
    await refuseOverQuota(unit, await ownerOf(unit, video.channelId), draft.probe.size)
    takeFound(video, { found, asked })
    await tagVideo(unit.query, videoId, filling.automaticTags)
    await takeAwaited(unit, video, draft, 'IMPORTED')
    await beginChapters(unit, video, chapters, draft.probe.metadata.chapters)
  }

  /** Runs in the transaction that locks the video: an ended live becomes the video of its recording, whatever the quota of its owner. */
  async function becomeReplay(unit: Unit, video: Video, { draft, privacy }: { draft: FileDraft; privacy: number }): Promise<void> {
    // Other servers that know the live must not keep it; a replay that they may see is created there again.
    if (isFederated(video.privacy) && video.privacy !== privacy) {
      unit.emit({ aggregate: 'video', id: video.id }, 'VideoRemoved', await removalOf(unit, video))
    }
    await dropPlaylist(unit, video.id)
    Object.assign(video, { isLive: false, privacy, waitTranscoding: true })
    await takeAwaited(unit, video, draft, 'REPLAY_SAVED')
  }

  async function takeAwaited(unit: Unit, video: Video, draft: FileDraft, type: 'IMPORTED' | 'REPLAY_SAVED'): Promise<void> {
    const { id: videoId } = video
    Object.assign(video, { ...dimensionsOf(draft.probe), updatedAt: unit.now })
    await pendingFiles.settle(unit.query, inspectFile.filesOf(draft))
    const gone = await addPictures(unit, videoId, draft)
    queuePictures(unit, videoId, draft.pictures)
    unit.em.create(VideoSource, { ...sourceOf(draft), videoId, createdAt: unit.now })
    const played = playedAtOnce(draft, video)
    advanceAndAnnounce(unit, video, [{ type, isAwaited: !played }])
    await takeFile(unit, video, { draft, played }, { config: config(), pendingFiles, placeFiles })
    await pendingFiles.condemn(unit.query, gone)
  }

  /** Keeps pictures that a user chose. Returns the files that are no longer needed. */
  async function addPictures(unit: Unit, videoId: number, draft: FileDraft): Promise<FileRef[]> {
    const gone: FileRef[] = []
    for (const picture of draft.pictures) {
      const known = await unit.em.findOne(Thumbnail, { videoId, type: picture.type })
      if (known && !known.automaticallyGenerated) gone.push(picture.ref)
      else gone.push(...(await replacePicture(unit, videoId, picture)))
    }
    return gone
  }

  return {
    /** Stores pictures. They are removed later unless `create` uses them. */
    async placePictures(given: GivenPictures): Promise<PlacedPicture[]> {
      const placed = uploadedPictures(given)
      await pendingFiles.reserve(
        leases.owner,
        placed.map(({ ref }) => ref),
      )
      for (const { ref, image } of placed) await store.put(ref, image.bytes)
      return placed
    },

    discardPictures(placed: readonly PlacedPicture[]): Promise<void> {
      return pendingFiles.discard(placed.map(({ ref }) => ref))
    },

    /** Stores the rows of a video that waits for its import or its stream. Throws `invalid` unless the user owns the channel. */
    async create(unit: Unit, { userId, source, fields, pictures = [] }: AwaitedVideo): Promise<CreatedVideo> {
      await lockChannel(unit, userId, fields.channelId)
      const uuid = newUuid()
      const dates = { createdAt: unit.now, updatedAt: unit.now, publishedAt: unit.now }
      const row = { ...rowWithoutFile(fields, uuid), isLive: source === 'live', url: urls.video(uuid), ...dates }
      const video = unit.em.create(Video, row)
      advance(unit, videoLifecycle, video, { type: 'ADDED', source, waitTranscoding: fields.waitTranscoding })
      await unit.em.flush()
      if (await mustWait(unit.query, { userId }, config())) await quarantine(unit, video, { unfederated: true })
      const name = (picture: NamedPicture, onDisk: boolean) =>
        unit.em.create(Thumbnail, { ...picture, videoId: video.id, onDisk, automaticallyGenerated: !onDisk, createdAt: unit.now })
      for (const picture of pictures) name(picture, true)
      if (source === 'live') {
        // A live has pictures before its stream.
        const drawn = pictureNames.map(inspectFile.planPicture).filter(({ type }) => !pictures.some((picture) => picture.type === type))
        for (const { type, filename, image } of drawn) name({ type, filename, width: image.width, height: image.height }, false)
        queuePictures(unit, video.id, drawn)
      }
      await insertDetails(unit, video.id, source === 'live' ? { ...fields, transcribe: false } : fields, config())
      await startChapters(unit, video.id, { description: fields.description, ofFile: [] })
      await pendingFiles.settle(unit.query, pictures.map(refOfPicture))
      // Other servers know a live before its stream. A blocked one is announced when the block ends.
      if (isFederatedState(video.state) && isFederated(video.privacy) && !video.blocked) {
        unit.emit({ aggregate: 'video', id: video.id }, 'VideoPublished', { videoId: video.id })
      }
      return { id: video.id, uuid, shortUUID: toShortUuid(uuid) }
    },

    fill,
    becomeReplay,

    /** Automatic tags of the video once it is filled. */
    async tagsOf({ videoId, found, asked }: Pick<Filling, 'videoId' | 'found' | 'asked'>): Promise<string[]> {
      const text = await textOf(db, videoId)
      if (!text) return []
      const { name, description, tags } = found
      const filled = { ...text, tags: [...text.tags] }
      takeUnchanged(filled, { name, description, tags }, asked)
      return await automaticTags.ofVideo(filled)
    },

    /** Removes a waiting video whose file will never arrive. */
    check(videoId: number): Promise<void> {
      return tell({ aggregate: 'video', id: videoId }, async (unit) => {
        const video = await unit.em.findOneOrFail(Video, videoId)
        if (video.state !== 'to-import') return
        const [open] = await unit.query("select 1 from video_import where video_id = $1 and state in ('pending', 'processing')", [videoId])
        if (open) advance(unit, videoLifecycle, video, { type: 'TIMED_OUT' })
        else removeUnpublished(unit, video)
      })
    },
  }
}

async function ownerOf(unit: Unit, channelId: number): Promise<number> {
  const [owner] = await unit.query<{ user_id: number | null }>(
    'select a.user_id from channel c join account a on a.id = c.account_id where c.id = $1',
    [channelId],
  )
  return owner?.user_id ?? 0
}

function takeFound(video: Video, { found, asked }: Pick<Filling, 'found' | 'asked'>): void {
  const { originallyPublishedAt, ...plain } = found
  takeUnchanged(video, plain, asked)
  if (originallyPublishedAt && !video.originallyPublishedAt) {
    video.originallyPublishedAt = new Date(originallyPublishedAt)
  }
}

/** Fields whose value is still the initial one. */
function takeUnchanged(video: Partial<Record<keyof FoundFields, unknown>>, found: FoundFields, asked: FoundFields): void {
  for (const [field, value] of Object.entries(found) as [keyof FoundFields, unknown][]) {
    if (value !== undefined && isDeepStrictEqual(video[field], asked[field])) Object.assign(video, { [field]: value })
  }
}

/** Keeps chapters that a user set meanwhile. Given chapters take precedence over those parsed from the description. */
async function beginChapters(unit: Unit, video: Video, given: readonly unknown[] | undefined, ofFile: readonly unknown[]): Promise<void> {
  const [known] = await unit.query('select 1 from video_chapter where video_id = $1 limit 1', [video.id])
  if (known) return
  if (given && given.length > 0) await startChapters(unit, video.id, { description: null, ofFile: given })
  else await startChapters(unit, video.id, { description: video.description ?? null, ofFile })
}
