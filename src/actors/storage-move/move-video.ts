// The jobs `move-to-object-storage` and `move-to-file-system` of a video: its files are copied to the other place and compared, then the
// rows are switched, then the old files are deleted. They can be killed and continue. The video stays published meanwhile, except for the
// moment in which the last files are compared: then its state prevents other changes.

import { copyVerified, type FileRef, type Place, type Store } from '../../media/index.ts'
import { type ActorDeps, advance, DomainError, type Unit } from '../runtime/index.ts'
import { noteStorage } from '../video/files.writes.ts'
import { announceChange, hasPrivateFiles, type Openness, queueTorrents, storageIn, videoLifecycle } from '../video/index.ts'
import { Video } from '../video/video.entity.ts'
import { filesOf, findMovable, isRewritten, type MovableFile, type MovableVideo, namesOf } from './movable-files.ts'
import { makeSpareCopies } from './spare-copies.ts'

export type StorageMoveDeps = ActorDeps & {
  store: Store
  /** Place of new files. */
  preferred: Place
}

const STATES = { 'object-storage': 'to-move-to-external-storage', 'file-system': 'to-move-to-file-system' } as const
const EVENTS = { 'object-storage': 'external-storage', 'file-system': 'file-system' } as const
/** How long a move may run while its target differs from the configured place, in ms. */
const LONGEST_UNWANTED_MS = 3_600_000
/** How often the files may change during the job before it waits. */
const TRIES = 5

export const otherPlace = (place: Place): Place => (place === 'object-storage' ? 'file-system' : 'object-storage')

export function makeMoveVideo(deps: StorageMoveDeps) {
  const { db, tell, config, store, preferred, clock, logger } = deps
  const spares = makeSpareCopies(deps)

  async function run(videoId: number, target: Place, signal: AbortSignal): Promise<void> {
    const video = await findMovable(db.query, videoId)
    if (video?.target === storageIn(target)) {
      if (!isMovable(video.state)) await forget(videoId)
      else if (preferred !== target) await giveUpInTime(videoId, target)
      else {
        await noteWanted(videoId)
        await move(videoId, video, target, signal)
      }
    }
    // Unless a move back is copying them.
    if (!video || video.target === null || video.target === storageIn(target)) await spares.remove(videoId)
  }

  /** Another process may have another configuration for a while, or a move back is about to be requested. */
  async function giveUpInTime(videoId: number, target: Place): Promise<void> {
    const reason = 'New files of this server go to another place.'
    const now = clock.now()
    const [seen] = await db.query<{ since: Date }>(
      `update storage_move set unwanted_since = coalesce(unwanted_since, $3) where video_id = $1 and target = $2
       returning unwanted_since as since`,
      [videoId, storageIn(target), now],
    )
    if (!seen) return
    if (now.getTime() - seen.since.getTime() < LONGEST_UNWANTED_MS) throw new DomainError('busy', reason)
    logger.warn({ videoId }, 'a move to a place that is not configured any more is given up')
    await giveUp(videoId, reason)
  }

  const noteWanted = async (videoId: number): Promise<void> => {
    await db.query('update storage_move set unwanted_since = null where video_id = $1 and unwanted_since is not null', [videoId])
  }

  async function move(videoId: number, found: MovableVideo, target: Place, signal: AbortSignal): Promise<void> {
    // Before anything is read in vain.
    if (found.isTranscoding || !isReady(found.state)) throw notNow()
    const done = new Set<string>()
    const large = filesOf(found).filter((ref) => !isRewritten(ref))
    // After a change of the privacy, what is known about the former names is meaningless.
    if (!(await carryAll({ video: found, videoId, files: large, target, signal, done }))) done.clear()
    await freeze(videoId, target)
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const video = await findMovable(db.query, videoId)
      if (!video || video.state === 'removed') return await forget(videoId)
      const files = filesOf(video)
      if (await carryAll({ video, videoId, files, target, signal, done })) {
        await assertNoneIsElsewhere(videoId, video, target, done)
        if (await switchOver(videoId, target, done)) return logger.info({ video: video.uuid, target }, 'files moved')
      }
      done.clear()
    }
    throw new DomainError('busy', 'The files of this video change again and again.')
  }

  /**
   * Copies the files, and adds the verified ones to `done`. Returns false if the privacy changed meanwhile, and some are not copied yet.
   */
  async function carryAll(ask: {
    video: Openness
    videoId: number
    files: readonly MovableFile[]
    target: Place
    signal: AbortSignal
    done: Set<string>
  }): Promise<boolean> {
    const { video, videoId, files, target, signal, done } = ask
    for (const ref of files.filter((one) => !done.has(keyOf(one)))) {
      const [from, to] = [store.only(otherPlace(target), ref.kind), store.only(target, ref.kind)]
      signal.throwIfAborted()
      if (!from || !to) {
        done.add(keyOf(ref))
        continue
      }
      // A file stored there by others is newer than this one.
      const isThere = (await to.stat(ref)) !== undefined && !(await spares.isNoted(target, ref))
      if (!isThere && (await from.stat(ref))) {
        await spares.note(db.query, { place: target, videoId, now: clock.now() }, namesOf([ref]))
      }
      const outcome = isThere ? 'there' : await copyVerified({ from, to, ref, signal })
      if (outcome === 'carried' && !(await isPlaceOf(videoId, video))) {
        await to.remove(ref)
        return false
      }
      if (outcome !== 'missing') done.add(keyOf(ref))
    }
    return true
  }

  /** False if the privacy changed while a file was copied: a copy in a public place must not stay until the end of the move. */
  async function isPlaceOf(videoId: number, video: Openness): Promise<boolean> {
    const [found] = await db.query<Openness>('select privacy, blocked from video where id = $1', [videoId])
    return found === undefined || hasPrivateFiles(found) === hasPrivateFiles(video)
  }

  /**
   * Waits for files that are being moved between the public and the private folders, also in the target place; missing files do not prevent
   * the move.
   */
  async function assertNoneIsElsewhere(videoId: number, video: MovableVideo, target: Place, done: Set<string>): Promise<void> {
    const nowhere: MovableFile[] = []
    for (const ref of filesOf(video)) {
      const isDone = done.has(keyOf(ref))
      const to = store.only(target, ref.kind)
      if (isDone && !(to && store.only(otherPlace(target), ref.kind))) continue
      const isThere = await isIn(isDone && to ? to : store, ref)
      if (isThere !== isDone) throw beingMoved()
      if (!isDone) nowhere.push(ref)
    }
    // The look-up may have used the former names.
    if (nowhere.length > 0 && !(await isPlaceOf(videoId, video))) throw beingMoved()
    for (const ref of nowhere) {
      logger.warn({ video: video.uuid, file: ref.name }, 'a file of a video is in no place')
      done.add(keyOf(ref))
    }
  }

  /** Under either of its names. A file that is moved during the look-up ends up under the first one. */
  async function isIn(place: Pick<Store, 'stat'>, { other, ...ref }: MovableFile): Promise<boolean> {
    for (const name of other ? [ref, other, ref] : [ref]) if (await place.stat(name)) return true
    return false
  }

  /** Prevents new work that makes or replaces files. Throws `busy` while such work is running. */
  const freeze = (videoId: number, target: Place): Promise<void> =>
    unlessRemoved(videoId, async (unit, video) => {
      const { isTranscoding } = (await findMovable(unit.query, videoId)) ?? {}
      if (video.state === STATES[target]) return
      if (isTranscoding || !isReady(video.state)) throw notNow()
      advance(unit, videoLifecycle, video, { type: 'MOVE_REQUESTED', to: EVENTS[target] })
    })

  /** Returns false if some files are not in the target place. */
  async function switchOver(videoId: number, target: Place, done: ReadonlySet<string>): Promise<boolean> {
    let isMoved = true
    await unlessRemoved(videoId, async (unit, video) => {
      const found = await findMovable(unit.query, videoId)
      const files = found ? filesOf(found) : []
      isMoved = files.every((ref) => done.has(keyOf(ref)))
      if (!isMoved) return
      await nameTarget(unit, videoId, target)
      const carried = namesOf(files.filter(({ kind }) => store.only('object-storage', kind)))
      await spares.keep(unit.query, target, carried)
      await spares.note(unit.query, { place: otherPlace(target), videoId, now: unit.now }, carried)
      await unit.query('delete from storage_move where video_id = $1', [videoId])
      advance(unit, videoLifecycle, video, { type: 'MOVED' })
      queueTorrents(unit, videoId, config(), 'update-metadata')
      announceChange(unit, video)
    })
    return isMoved
  }

  async function nameTarget(unit: Unit, videoId: number, target: Place): Promise<void> {
    const has = (kind: FileRef['kind']): boolean => store.only('object-storage', kind) !== undefined
    await noteStorage(unit, videoId, storageIn(target), { webVideos: has('web_videos'), streamingPlaylists: has('streaming_playlists') })
  }

  async function unlessRemoved(videoId: number, work: (unit: Unit, video: Video) => Promise<void>): Promise<void> {
    await tell({ aggregate: 'video', id: videoId }, async (unit) => {
      const video = await unit.em.findOneOrFail(Video, videoId)
      if (video.state !== 'removed') await work(unit, video)
    }).catch((error: unknown) => {
      if (!(error instanceof DomainError && error.kind === 'not_found')) throw error
    })
  }

  const forget = async (videoId: number): Promise<void> => {
    await spares.remove(videoId)
    await db.query('delete from storage_move where video_id = $1', [videoId])
  }

  /** Gives up the move: the video stays where it was. */
  async function giveUp(videoId: number, error: string): Promise<void> {
    await unlessRemoved(videoId, async (unit, video) => {
      if (isFrozen(video.state)) advance(unit, videoLifecycle, video, { type: 'MOVE_FAILED', error })
    })
    await forget(videoId)
  }

  return { run, giveUp }
}

const notNow = (): DomainError => new DomainError('busy', 'Something else happens to the files of this video.')

const beingMoved = (): DomainError => new DomainError('busy', 'The files of this video are being moved.')

const isReady = (state: string): boolean => isFrozen(state) || state === 'published'

const isFrozen = (state: string): boolean => Object.values<string>(STATES).includes(state)

/** Now, or when its current processing ends. */
const isMovable = (state: string): boolean => isReady(state) || ['to-transcode', 'to-edit'].includes(state)

const keyOf = ({ kind, name }: FileRef): string => `${kind}/${name}`
