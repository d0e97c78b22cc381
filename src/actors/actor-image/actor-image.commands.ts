// The avatar and the banner of a local actor: an account, a channel or the instance.

import pLimit from 'p-limit'
import { type ActorImageFile, type FileRef, fitActorImage, type ImageSize, type Store } from '../../media/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { type ActorImageRow, actorImageTypes } from '../actor/index.ts'
import { type ActorDeps, type Noted, notFound, type Unit } from '../runtime/index.ts'
import type { Leases, PendingFiles } from '../video/index.ts'

export type ActorImageKind = keyof typeof actorImageTypes

/** px; the sizes that clients request. */
const SIZES: Record<ActorImageKind, readonly ImageSize[]> = {
  avatar: [1500, 600, 120, 48].map((side) => ({ width: side, height: side })),
  banner: [
    { width: 1920, height: 317 },
    { width: 600, height: 100 },
  ],
}

interface NewFile {
  ref: FileRef
  image: ActorImageFile
}

type Deps = Pick<ActorDeps, 'db' | 'tell'> & {
  store: Store
  pendingFiles: PendingFiles
  leases: Pick<Leases, 'owner'>
}

export type ActorImages = ReturnType<typeof makeActorImages>

export function makeActorImages({ db, tell, store, pendingFiles, leases }: Deps) {
  // Decoding needs memory, and threads that logins and files need too.
  const inTurn = pLimit(1)
  return {
    /**
     * Replaces an image. Returns its sizes, the largest first. Throws MediaError `not-media`, `unreadable` or `too-large` for an invalid
     * image. `done` is the entry in the audit log.
     */
    async set(actorId: number, kind: ActorImageKind, path: string, done?: Noted): Promise<ActorImageRow[]> {
      const files = (await inTurn(() => fitActorImage(path, SIZES[kind]))).map(toNewFile)
      const refs = files.map(({ ref }) => ref)
      await pendingFiles.reserve(leases.owner, refs)
      try {
        for (const { ref, image } of files) await store.put(ref, image.bytes)
        const { stored, replaced } = await tell({ aggregate: 'actor', id: actorId }, async (unit) => {
          const gone = await drop(unit, actorId, kind)
          const rows = await insert(unit, actorId, kind, files)
          await pendingFiles.settle(unit.query, refs)
          announce(unit, actorId)
          if (done) unit.note(done)
          return { stored: rows, replaced: gone }
        })
        await pendingFiles.discard(replaced)
        return stored
      } catch (error) {
        await pendingFiles.discard(await unstored(refs))
        throw error
      }
    },

    /** Removes the image; ignores a missing one. */
    async remove(actorId: number, kind: ActorImageKind, done?: Noted): Promise<void> {
      const removed = await tell({ aggregate: 'actor', id: actorId }, async (unit) => {
        const gone = await drop(unit, actorId, kind)
        if (gone.length > 0) {
          announce(unit, actorId)
          if (done) unit.note(done)
        }
        return gone
      })
      await pendingFiles.discard(removed)
    },
  }

  /** The transaction may have been committed although its response was lost. */
  async function unstored(refs: FileRef[]): Promise<FileRef[]> {
    const rows = await db.query<{ filename: string }>('select filename from actor_image where filename = any($1)', [
      refs.map(({ name }) => name),
    ])
    return refs.filter(({ name }) => !rows.some(({ filename }) => filename === name))
  }
}

const announce = (unit: Unit, actorId: number): void => unit.emit({ aggregate: 'actor', id: actorId }, 'ActorUpdated', { actorId })

/** A trigger of the table makes their files pending. */
async function drop(unit: Unit, actorId: number, kind: ActorImageKind): Promise<FileRef[]> {
  const rows = await unit.query<{ filename: string }>(
    `delete from actor_image i using actor a
     where a.id = i.actor_id and a.id = $1 and a.host_id is null and i.type = $2 returning i.filename`,
    [actorId, actorImageTypes[kind]],
  )
  return rows.map(({ filename }) => toRef(filename))
}

async function insert(unit: Unit, actorId: number, kind: ActorImageKind, files: readonly NewFile[]): Promise<ActorImageRow[]> {
  const rows: ActorImageRow[] = []
  for (const { ref, image } of files) {
    const [row] = await unit.query<ActorImageRow>(
      `insert into actor_image (actor_id, type, filename, width, height, on_disk, created_at, updated_at)
       select id, $2, $3, $4, $5, true, $6, $6 from actor where id = $1 and host_id is null and deleted_at is null
       returning filename, width, height, file_url, created_at, updated_at`,
      [actorId, actorImageTypes[kind], ref.name, image.width, image.height, unit.now],
    )
    if (!row) throw notFound('This actor is none of this server.')
    rows.push(row)
  }
  return rows
}

const toNewFile = (image: ActorImageFile): NewFile => ({ ref: toRef(`${newUuid()}${image.extension}`), image })

const toRef = (name: string): FileRef => ({ kind: 'avatars', name })
