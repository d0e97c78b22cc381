// Files that no row names yet, or no longer. They are noted before they are written, and the note is deleted in the transaction that stores
// the row. A process that is killed in between leaves a note, not an orphan.

import { type FileRef, StorageOutage, type Store } from '../../../media/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Columns, Database, Sql } from '../../../platform/database/index.ts'
import { isUuid } from '../../../platform/ids.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { PendingFile as PendingFileEntity } from '../files.entity.ts'

export interface PendingFile extends FileRef {
  /** True for a folder with its content. */
  folder?: boolean
}

/** Who writes, and whether a writer is dead. */
export interface Leases {
  /** Name of this process. */
  owner: string
  /** True if the owner is known to be a dead process of this machine. */
  isGone(owner: string): boolean
}

const NOBODY = 'nobody'
export const OF_TRANSCODING = 'transcoding:'
const OF_EDITION = 'edition:'

const OF_REDUNDANCY = 'redundancy:'
const OF_IMPORT = 'import:'
const OF_FAILED_IMPORT = 'failed-import:'

/** Owner of files that live as long as a transcoding is running, in whichever process. */
export const transcodingOwner = (transcodingId: number): string => `${OF_TRANSCODING}${transcodingId}`

/** The same for a redundancy that is being made. */
export const redundancyOwner = (redundancyId: number): string => `${OF_REDUNDANCY}${redundancyId}`

/** The same for a studio edition. */
export const editionOwner = (editionId: number): string => `${OF_EDITION}${editionId}`
/** The same for a running import. */
export const importOwner = (importId: number): string => `${OF_IMPORT}${importId}`
/** Owner of files that a failed import needs for its next attempt. */
export const failedImportOwner = (importId: number): string => `${OF_FAILED_IMPORT}${importId}`

/** A process of another machine that wrote nothing for this long counts as dead, in ms. */
const LONGEST_WRITING = 24 * 3_600_000

/** Rows per query. */
const PAGE = 500

const INSERT = `
  insert into pending_file (kind, name, folder, owner, created_at)
  select f.kind, f.name, f.folder, $2, $3 from jsonb_to_recordset($1) as f(kind text, name text, folder boolean)
  on conflict (kind, name) do update set owner = excluded.owner, created_at = excluded.created_at`

const DELETE = `
  delete from pending_file p using jsonb_to_recordset($1) as f(kind text, name text)
  where p.kind = f.kind and p.name = f.name`

const UNWANTED = `
  select p.id, p.kind, p.name, p.folder, p.owner, p.created_at from pending_file p
  where case
    when p.owner like '${OF_TRANSCODING}%' then not exists (
      select 1 from transcoding t where t.id = split_part(p.owner, ':', 2)::integer
        and t.state in ('planned', 'running', 'packaged', 'stored'))
    when p.owner like '${OF_REDUNDANCY}%' then not exists (
      select 1 from redundancy r where r.id = split_part(p.owner, ':', 2)::integer and r.state in ('wanted', 'downloading'))
    when p.owner like '${OF_EDITION}%' then not exists (
      select 1 from video_edition e where e.id = split_part(p.owner, ':', 2)::integer)
    when p.owner like '${OF_IMPORT}%' then not exists (
      select 1 from video_import i where i.id = split_part(p.owner, ':', 2)::integer and i.state in ('pending', 'processing'))
    when p.owner like '${OF_FAILED_IMPORT}%' then not exists (
      select 1 from video_import i where i.id = split_part(p.owner, ':', 2)::integer and i.state = 'failed')
    else true end
  and p.id > $1 order by p.id limit ${PAGE}`

const SAME = 'where kind = $1 and name = $2 and owner = $3 and created_at = $4'

// The same name may have a new owner since it was read. A file that a row names is in use, even if it is noted again: a worker may not know
// how far another one got.
const STILL_THERE = `
  select exists (
    select 1 from video_file where filename = $5 and $1 in ('web_videos', 'streaming_playlists')
    union all select 1 from thumbnail where filename = $5 and $1 in ('thumbnails', 'previews')
    union all select 1 from video v join video_file f on f.video_id = v.id where v.uuid = $6 and f.playlist_filename = $5
    union all select 1 from video v join streaming_playlist p on p.video_id = v.id
      where v.uuid = $6 and $5 in (p.playlist_filename, p.segments_sha256_filename)) as "isNamed"
  from pending_file ${SAME}`

interface PendingRow extends Columns<typeof PendingFileEntity, 'id' | 'name' | 'folder' | 'owner' | 'createdAt'> {
  kind: FileRef['kind']
}

export type PendingFiles = ReturnType<typeof makePendingFiles>

export function makePendingFiles(options: { db: Database; store: Store; clock: Clock; logger: Logger; leases: Pick<Leases, 'isGone'> }) {
  const { db, store, clock, logger, leases } = options

  const remove = async (file: PendingFile): Promise<void> => {
    if (file.kind === 'tmp' && file.folder) await store.removeWorkFolder(file.name)
    else if (file.folder) await store.removeFolder(file)
    else await store.remove(file)
  }

  const insert = async (query: Sql, owner: string, files: readonly PendingFile[]): Promise<void> => {
    if (files.length > 0) await query(INSERT, [json(files), owner, clock.now()])
  }

  /** Files of this process, which lives: otherwise their notes would stay as long as it runs. */
  const givenUp = new Set<string>()

  /** This process will not write these files any more. A collection of this process removes those that were not settled. */
  const giveUp = (files: readonly PendingFile[]): void => {
    for (const file of files) givenUp.add(keyOf(file))
  }

  const isUnwanted = ({ kind, name, owner, created_at }: PendingRow): boolean =>
    owner === NOBODY ||
    givenUp.has(keyOf({ kind, name })) ||
    owner.startsWith(OF_TRANSCODING) ||
    owner.startsWith(OF_REDUNDANCY) ||
    owner.startsWith(OF_EDITION) ||
    owner.startsWith(OF_IMPORT) ||
    owner.startsWith(OF_FAILED_IMPORT) ||
    leases.isGone(owner) ||
    clock.now().getTime() - created_at.getTime() > LONGEST_WRITING

  return {
    /** Notes files that are about to be written. */
    async reserve(owner: string, files: readonly PendingFile[]): Promise<void> {
      for (const file of files) givenUp.delete(keyOf(file))
      await insert(db.query, owner, files)
    },

    /** Runs in the transaction that stores the rows that name the files. Deletes their notes. */
    async settle(query: Sql, files: readonly FileRef[]): Promise<void> {
      if (files.length > 0) await query(DELETE, [json(files)])
    },

    /**
     * Runs in the transaction that deletes the rows that named the files. They are removed once `reader` (a `transcodingOwner` or
     * `failedImportOwner`, if given) is done.
     */
    condemn(query: Sql, files: readonly PendingFile[], reader: string = NOBODY): Promise<void> {
      return insert(query, reader, files)
    },

    /** Removes files that were reserved and are not needed. Tries all of them, then throws if one could not be removed. */
    async discard(files: readonly PendingFile[]): Promise<void> {
      // Until they are removed and their notes deleted: if the database is unreachable, a collection removes them later.
      giveUp(files)
      const outcome = await eachOf(files, remove)
      if (outcome.done.length > 0) await db.query(DELETE, [json(outcome.done)])
      for (const file of outcome.done) givenUp.delete(keyOf(file))
      if (outcome.failures.length > 0) throw outcome.failures[0]
    },

    giveUp,

    /** Removes the files whose owner is done. Returns how many. Never throws: failures are logged and tried again later. */
    async collect(): Promise<number> {
      const before = [...givenUp]
      let removed = 0
      const failures: unknown[] = []
      const outOfReach = new Set<FileRef['kind']>()
      const collectOne = async (row: PendingRow): Promise<void> => {
        if (outOfReach.has(row.kind)) return
        try {
          if (await collectRow(row)) removed += 1
        } catch (error) {
          if (error instanceof StorageOutage) outOfReach.add(row.kind)
          throw error
        }
      }
      try {
        for (let after: number | undefined = 0; after !== undefined; ) {
          const rows: PendingRow[] = await db.query<PendingRow>(UNWANTED, [after])
          failures.push(...(await eachOf(rows.filter(isUnwanted), collectOne)).failures)
          after = rows.length < PAGE ? undefined : rows.at(-1)?.id
        }
      } catch (error) {
        failures.unshift(error)
      }
      if (failures.length === 0) for (const key of before) givenUp.delete(key)
      if (failures.length > 0) {
        logger.warn({ err: failures[0], failures: failures.length, removed }, 'files that are no longer needed are left for later')
      }
      return removed
    },
  }

  /** Returns true if the file was removed. */
  async function collectRow(row: PendingRow): Promise<boolean> {
    const [folder = '', name] = row.name.split('/').slice(-2)
    const same = [row.kind, row.name, row.owner, row.created_at]
    const [found] = await db.query<{ isNamed: boolean }>(STILL_THERE, [...same, name ?? folder, isUuid(folder) ? folder : null])
    if (!found) return false
    if (!found.isNamed) await remove(row)
    // Keeps the note of a process that has begun to write the file again.
    await db.query(`delete from pending_file ${SAME}`, same)
    return !found.isNamed
  }
}

/** One failing file does not stop the others. */
async function eachOf<T>(files: readonly T[], work: (file: T) => Promise<void>) {
  const done: T[] = []
  const failures: unknown[] = []
  for (const file of files) {
    try {
      await work(file)
      done.push(file)
    } catch (error) {
      failures.push(error)
    }
  }
  return { done, failures }
}

const keyOf = ({ kind, name }: FileRef): string => `${kind} ${name}`

const json = (files: readonly PendingFile[]): string =>
  JSON.stringify(files.map(({ kind, name, folder }) => ({ kind, name, folder: folder ?? false })))
