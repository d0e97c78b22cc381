// Changes of a local video by its owner, the staff or its schedule.

import type { EncodedImage, FileRef, Store } from '../../media/index.ts'
import type { Columns, Database } from '../../platform/database/index.ts'
import { type AutomaticTags, type TaggedVideo, tagVideo } from '../automatic-tag/index.ts'
import { followDescription } from '../chapter/index.ts'
import { type ActorDeps, advance, DomainError, notFound, takes, type Unit } from '../runtime/index.ts'
import type { Viewer } from '../session/index.ts'
import { hasRight } from '../user/index.ts'
import { type DraftPicture, uploadedPictures } from './files/inspect-file.ts'
import type { Leases, PendingFiles } from './files/pending-files.ts'
import type { PlaceFiles } from './files/place-files.ts'
import { queueTorrents } from './files/queue-torrents.ts'
import { dropPasswords, insertPasswords, refuseBadPasswords } from './password-rows.ts'
import { isKnownInState, isPublished, videoLifecycle } from './publish-video.ts'
import { Thumbnail, Video, type VideoSchedule, videoPrivacies } from './video.entity.ts'
import { assertMayChange, hasPrivateFiles, isFederated } from './video.policy.ts'

/** Fields to change. Omitted fields stay. */
export interface VideoChanges {
  channelId?: number
  name?: string
  category?: number | null
  licence?: number | null
  language?: string | null
  privacy?: number
  nsfw?: boolean
  description?: string | null
  support?: string | null
  waitTranscoding?: boolean
  commentsPolicy?: number
  downloadEnabled?: boolean
  tags?: string[]
  originallyPublishedAt?: Date | null
  /** Replace the existing ones. */
  passwords?: string[]
  /** Null cancels the schedule; a null `privacy` keeps the privacy. */
  schedule?: { updateAt: Date; privacy: number | null } | null
}

export interface NewPictures {
  thumbnail?: EncodedImage | undefined
  preview?: EncodedImage | undefined
}

/** Changes parts of a video in the video's own transaction; other servers are notified like of any change. */
export type ChangeParts = (videoId: number, by: NonNullable<Viewer>, apply: (unit: Unit) => Promise<void>) => Promise<void>

type Deps = ActorDeps & {
  store: Store
  pendingFiles: PendingFiles
  placeFiles: PlaceFiles
  leases: Pick<Leases, 'owner'>
  automaticTags: AutomaticTags
}

export type UpdateVideo = ReturnType<typeof makeUpdateVideo>

export function makeUpdateVideo(deps: Deps) {
  const { db, tell, registry, config, logger, store, pendingFiles, placeFiles, leases, automaticTags } = deps

  /** Runs a change in the video's transaction, announces it, and moves the files as the privacy demands. */
  async function change(
    videoId: number,
    apply: (unit: Unit, video: Video) => Promise<void>,
    by: 'change' | 'schedule' = 'change',
  ): Promise<void> {
    const moved = await tell({ aggregate: 'video', id: videoId }, async (unit) => {
      const video = await unit.em.findOneOrFail(Video, videoId)
      if (video.state === 'removed') throw notFound('Video not found')
      const { channelId, name } = video
      const before = {
        wasAnnounced: isAnnounced(video),
        wasListed: isListed(video),
        wasHidden: hasPrivateFiles(video),
        channelId,
      }
      await apply(unit, video)
      video.updatedAt = unit.now
      await announce(unit, video, before)
      if (isListed(video) && !before.wasListed) unit.emit({ aggregate: 'video', id: videoId }, 'VideoShown', { videoId, after: by })
      const isMoved = before.wasHidden !== hasPrivateFiles(video)
      if (isMoved || name !== video.name) queueTorrents(unit, videoId, config(), 'update-metadata')
      if (!isMoved) return false
      placeFiles.ask(unit, videoId)
      return true
    })
    if (!moved) return
    // The job would do it soon. Doing it now, no client that got the response sees a file at its old address.
    await placeFiles
      .now(videoId)
      .catch((error: unknown) => logger.warn({ err: error, videoId }, 'the files of a video wait for their job to be moved'))
  }

  registry.timeout('video-schedule', {
    of: { table: 'video_schedule', id: 'video_id', dueAt: 'update_at' },
    timedOut: (videoId) => change(videoId, (unit, video) => publishBySchedule(unit, video), 'schedule'),
  })

  async function publishBySchedule(unit: Unit, video: Video): Promise<void> {
    const [schedule] = await unit.query<Columns<typeof VideoSchedule, 'privacy'>>(
      'delete from video_schedule where video_id = $1 and update_at <= $2 returning privacy',
      [video.id, unit.now],
    )
    if (!schedule || schedule.privacy === null) return
    setPrivacy(unit, video, schedule.privacy)
    await dropPasswords(unit, video.id)
  }

  /** Throws `not_found`, `forbidden` (another user's video or a remote one), and what `apply` throws. */
  const changeParts: ChangeParts = (videoId, by, apply) =>
    change(videoId, async (unit, video) => {
      await assertChangeable(unit, video, by, 'UPDATE_ANY_VIDEO')
      await apply(unit)
    })

  return {
    changeParts,

    /**
     * Throws `not_found`, `forbidden` (another user's video or a remote one), `invalid` (another user's channel, privacy by password
     * without passwords).
     */
    async update(videoId: number, by: NonNullable<Viewer>, changes: VideoChanges, pictures: NewPictures = {}): Promise<void> {
      const files = uploadedPictures(pictures)
      const tags = await tagsAfter(videoId, changes)
      await pendingFiles.reserve(
        leases.owner,
        files.map(({ ref }) => ref),
      )
      try {
        for (const { ref, image } of files) await store.put(ref, image.bytes)
        const replaced: FileRef[] = []
        await change(videoId, async (unit, video) => {
          await assertChangeable(unit, video, by, 'UPDATE_ANY_VIDEO')
          await assign(unit, video, by, changes)
          if (tags) await tagVideo(unit.query, videoId, tags)
          for (const file of files) replaced.push(...(await replacePicture(unit, videoId, file)))
          await pendingFiles.settle(
            unit.query,
            files.map(({ ref }) => ref),
          )
          await pendingFiles.condemn(unit.query, replaced)
        })
        await pendingFiles.discard(replaced)
      } catch (error) {
        await discardUnlessStored(files.map(({ ref }) => ref))
        throw error
      }
    },
  }

  /** Automatic tags of the video after the change; undefined if its texts stay the same. */
  async function tagsAfter(videoId: number, changes: VideoChanges): Promise<string[] | undefined> {
    const { name, description, support, tags } = changes
    if ([name, description, support, tags].every((said) => said === undefined)) return undefined
    const before = await textOf(db, videoId)
    if (!before) return undefined
    return await automaticTags.ofVideo({
      name: name ?? before.name,
      description: description === undefined ? before.description : description,
      support: support === undefined ? before.support : support,
      tags: tags ?? before.tags,
    })
  }

  async function discardUnlessStored(refs: FileRef[]): Promise<void> {
    if (refs.length === 0) return
    const names = refs.map(({ name }) => name)
    const stored = await db.query<Columns<Thumbnail, 'filename'>>('select filename from thumbnail where filename = any($1)', [names])
    await pendingFiles.discard(refs.filter(({ name }) => !stored.some(({ filename }) => filename === name)))
  }
}

/** The texts of a video. */
export async function textOf(db: Pick<Database, 'query'>, videoId: number): Promise<TaggedVideo | undefined> {
  const [row] = await db.query<TaggedVideo>('select name, description, support, tags from video where id = $1', [videoId])
  return row
}

/** True if lists of subscriptions show it, unless the instance blocks it. */
const isListed = (video: Video): boolean =>
  isPublished(video) && (video.privacy === videoPrivacies.public || video.privacy === videoPrivacies.internal)

const isAnnounced = (video: Video): boolean => isKnownInState(video) && isFederated(video.privacy)

async function announce(
  unit: Unit,
  video: Video,
  { wasAnnounced, channelId }: { wasAnnounced: boolean; channelId: number },
): Promise<void> {
  const of = { aggregate: 'video', id: video.id } as const
  const { id: videoId } = video
  if (isAnnounced(video) && wasAnnounced) unit.emit(of, 'VideoUpdated', { videoId })
  else if (isAnnounced(video) && !video.blocked) unit.emit(of, 'VideoPublished', { videoId, again: true })
  else if (wasAnnounced && !isFederated(video.privacy)) unit.emit(of, 'VideoRemoved', await removalOf(unit, video, channelId))
}

/** What a Delete of the video needs to know once the row has changed or is deleted. */
export async function removalOf(unit: Unit, video: Video, channelId = video.channelId) {
  const [owner] = await unit.query<{ account_actor: number; channel_actor: number }>(
    `select a.actor_id as account_actor, c.actor_id as channel_actor
     from channel c join account a on a.id = c.account_id where c.id = $1`,
    [channelId],
  )
  if (!owner) throw new Error(`The channel ${channelId} of the video ${video.id} does not exist.`)
  const { account_actor: accountActorId, channel_actor: channelActorId } = owner
  return { videoId: video.id, url: video.url, accountActorId, channelActorId }
}

/** Throws unless `by` may change the video. */
export async function assertChangeable(
  unit: Unit,
  video: Video,
  by: NonNullable<Viewer>,
  right: Parameters<typeof assertMayChange>[2],
): Promise<void> {
  const [owner] = await unit.query<{ account_id: number }>('select account_id from channel where id = $1', [video.channelId])
  const { privacy, blocked, remote } = video
  assertMayChange({ privacy, blocked, remote, ownerAccountId: owner?.account_id ?? 0 }, by, right)
}

async function assign(unit: Unit, video: Video, by: NonNullable<Viewer>, changes: VideoChanges): Promise<void> {
  const { channelId, privacy, passwords, schedule, ...plain } = changes
  // Its pieces are public or private from the beginning.
  if (video.isLive && isPublished(video) && privacy !== undefined && privacy !== video.privacy) {
    throw new DomainError('invalid', 'The privacy of a live that has started cannot be changed.')
  }
  if (channelId !== undefined && channelId !== video.channelId) {
    await checkChannel(unit, channelId, by)
    video.channelId = channelId
  }
  if (plain.description !== undefined) await followDescription(unit, video.id, video.description ?? null, plain.description)
  Object.assign(video, plain)
  if (plain.waitTranscoding !== undefined) {
    const changed = { type: 'WAIT_CHANGED', waitTranscoding: plain.waitTranscoding } as const
    if (takes(videoLifecycle, video, changed)) advance(unit, videoLifecycle, video, changed)
  }
  if (privacy !== undefined) setPrivacy(unit, video, privacy)
  await storePasswords(unit, video, { passwords, isAsked: privacy !== undefined })
  if (schedule !== undefined) await storeSchedule(unit, video.id, schedule)
}

/** A video that stops being private is new to others from now on. */
function setPrivacy(unit: Unit, video: Video, privacy: number): void {
  if (video.privacy === videoPrivacies.private && privacy !== videoPrivacies.private) video.publishedAt = unit.now
  video.privacy = privacy
}

async function checkChannel(unit: Unit, channelId: number, by: NonNullable<Viewer>): Promise<void> {
  const [channel] = await unit.query<{ account_id: number }>(
    `select c.account_id from channel c join actor a on a.id = c.actor_id
     where c.id = $1 and c.state = 'active' and a.host_id is null for key share of c`,
    [channelId],
  )
  if (!channel) throw new DomainError('invalid', 'Unknown video "video channel" for this instance.')
  const mayUse = channel.account_id === by.accountId || hasRight(by.role, 'MANAGE_ANY_VIDEO_CHANNEL')
  if (!mayUse) throw new DomainError('invalid', 'Unknown video "video channel" for this account.')
}

/** A request for the privacy by password gives the passwords. Other changes keep those of a protected video. */
async function storePasswords(
  unit: Unit,
  video: Video,
  { passwords, isAsked }: { passwords: string[] | undefined; isAsked: boolean },
): Promise<void> {
  if (video.privacy !== videoPrivacies.passwordProtected) {
    await dropPasswords(unit, video.id)
    return
  }
  if (passwords === undefined && !isAsked) return
  if (passwords === undefined) throw new DomainError('invalid', 'Video passwords are missing.')
  refuseBadPasswords(passwords)
  await dropPasswords(unit, video.id)
  await insertPasswords(unit, video.id, passwords)
}

async function storeSchedule(unit: Unit, videoId: number, schedule: NonNullable<VideoChanges['schedule']> | null) {
  if (schedule === null) {
    await unit.query('delete from video_schedule where video_id = $1', [videoId])
    return
  }
  await unit.query(
    `insert into video_schedule (video_id, update_at, privacy) values ($1, $2, $3)
     on conflict (video_id) do update set update_at = excluded.update_at, privacy = excluded.privacy`,
    [videoId, schedule.updateAt, schedule.privacy],
  )
}

/** Replaces a picture. Returns the file of the old one. */
export async function replacePicture(
  unit: Unit,
  videoId: number,
  { type, ref, image, generated }: Pick<DraftPicture, 'type' | 'ref' | 'image' | 'generated'>,
): Promise<FileRef[]> {
  const row = {
    filename: ref.name,
    width: image.width,
    height: image.height,
    fileUrl: null,
    onDisk: image.bytes !== null,
    automaticallyGenerated: generated,
  }
  const known = await unit.em.findOne(Thumbnail, { videoId, type })
  if (!known) {
    unit.em.create(Thumbnail, { ...row, videoId, type, createdAt: unit.now })
    return []
  }
  const old = { kind: ref.kind, name: known.filename }
  Object.assign(known, row)
  return [old]
}
