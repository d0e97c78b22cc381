// Receives the bytes of a chunk. One request at a time holds the lease of the upload and renews it while bytes arrive. Flushed bytes are
// recorded as received every few seconds and at the end, also if the connection is lost.

import { setTimeout as pause } from 'node:timers/promises'
import { type Appender, isDiskFull, MediaError } from '../../media/index.ts'
import { randomToken } from '../../platform/ids.ts'
import { advance, DomainError } from '../runtime/index.ts'
import { Upload } from './upload.entity.ts'
import { filesOf, isLeased, isOpen, type UploadDeps, uploadFile, uploadLifecycle } from './upload-state.ts'

/** `Content-Range` of a chunk (`to` is its last byte) or of a status query. Bytes. */
export type ChunkRange = { kind: 'chunk'; from: number; to: number; size: number } | { kind: 'status'; size: number | null }

export interface AfterChunk {
  /** Contiguous bytes stored from the beginning. */
  received: number
  complete: boolean
}

/** A request that received no byte for this long loses the lease, in ms. */
const LEASE = 10_000
/** How often received bytes are flushed and the lease is renewed, in ms. */
const CHECKPOINT_EVERY = LEASE / 4
/** How long a chunk waits for the previous request to release the lease, in ms. */
const PATIENCE = 3_000
const LOOK_AGAIN_EVERY = 50

export type ReceiveChunk = (ask: { id: number; range: ChunkRange | null; body: AsyncIterable<Uint8Array> }) => Promise<AfterChunk>

export function makeReceiveChunk(deps: UploadDeps): ReceiveChunk {
  const { tell, config, store, leases, pendingFiles } = deps
  const silence = (): number => config().vireo.uploads.session_lifetime

  /** Leases the upload to this request; undefined if there is nothing to write. */
  async function hold(id: number, range: ChunkRange | null, owner: string) {
    return await tell({ aggregate: 'upload', id }, async (unit) => {
      const upload = await unit.em.findOneOrFail(Upload, id)
      if (!isOpen(upload.state)) throw new DomainError('not_found', 'This upload has ended.')
      const { token, received, size } = upload
      if (range && range.size !== null && range.size !== size) {
        throw new DomainError('conflict', 'This upload was opened with another size.', {
          headers: rangeHeader(received),
        })
      }
      if (range?.kind === 'status') advance(unit, uploadLifecycle, upload, { type: 'ASKED' }, silence())
      const after: AfterChunk = { received, complete: upload.state === 'assembled' }
      if (after.complete || !range || range.kind === 'status' || range.from !== received) return { after }
      if (range.to >= size || range.to < range.from) {
        throw new DomainError('conflict', 'The range is not inside the file.', { headers: rangeHeader(received) })
      }
      if (isLeased(upload, unit.now, leases)) throw busy(LEASE, received)
      upload.leaseOwner = owner
      upload.leaseUntil = new Date(unit.now.getTime() + LEASE)
      return { token, from: received, end: range.to + 1 }
    })
  }

  /**
   * A client that lost its connection may return before the server notices, while the previous request is still flushing its last bytes.
   * Waiting costs the client less time than a refusal.
   */
  async function holdPatiently(id: number, range: ChunkRange | null, owner: string) {
    const giveUpAt = performance.now() + PATIENCE
    for (;;) {
      try {
        return await hold(id, range, owner)
      } catch (error) {
        const isBusy = error instanceof DomainError && error.kind === 'busy'
        if (!isBusy || performance.now() > giveUpAt) throw error
        await pause(LOOK_AGAIN_EVERY)
      }
    }
  }

  /** Records the flushed bytes. Throws `busy` if another request has taken the lease, and `not_found` if the upload ended. */
  async function storeBytes(id: number, owner: string, from: number, bytes: number, last: boolean): Promise<AfterChunk> {
    return await tell({ aggregate: 'upload', id }, async (unit) => {
      const upload = await unit.em.findOneOrFail(Upload, id)
      if (!isOpen(upload.state)) throw new DomainError('not_found', 'This upload has ended.')
      if (upload.leaseOwner !== owner) throw busy(LEASE, upload.received)
      if (bytes > 0) advance(unit, uploadLifecycle, upload, { type: 'CHUNK_STORED', from, bytes }, silence())
      upload.leaseOwner = last ? null : owner
      upload.leaseUntil = last ? null : new Date(unit.now.getTime() + LEASE)
      return { received: upload.received, complete: upload.state === 'assembled' }
    })
  }

  async function openFile(id: number, owner: string, token: string, from: number): Promise<Appender> {
    try {
      // Bytes beyond the row's offset were never acknowledged, so they are cut off.
      return await store.openAppend(token, from)
    } catch (error) {
      if (!(error instanceof MediaError) || error.reason !== 'offset') {
        await storeBytes(id, owner, from, 0, true).catch(() => undefined)
        throw asDomain(error)
      }
      // The disk lost acknowledged bytes, so the upload cannot continue. The client starts again.
      await tell({ aggregate: 'upload', id }, async (unit) => {
        const upload = await unit.em.findOneOrFail(Upload, id)
        await pendingFiles.condemn(unit.query, filesOf(upload))
        if (upload.userImportId) await deps.userImports.notUploaded(unit, upload.userImportId)
        unit.em.remove(upload)
      })
      await pendingFiles.collect()
      throw new DomainError('not_found', 'The bytes of this upload were lost; please start again.', { cause: error })
    }
  }

  return async ({ id, range, body }) => {
    const owner = `${leases.owner}#${randomToken(4)}`
    const held = await holdPatiently(id, range, owner)
    if (held.after) return held.after
    const { token, from, end } = held
    const file = await openFile(id, owner, token, from)
    let safe = from
    let checkedAt = performance.now()

    const checkpoint = async (last: boolean): Promise<AfterChunk> => {
      const size = await file.sync()
      const after = await storeBytes(id, owner, safe, size - safe, last)
      safe = size
      checkedAt = performance.now()
      return after
    }

    try {
      const lost = await appendBody(file, body, end, async () => {
        if (performance.now() - checkedAt > CHECKPOINT_EVERY) await checkpoint(false)
      })
      const after = await checkpoint(true)
      if (lost) throw new DomainError('invalid', 'The connection was lost.', { cause: lost })
      return after
    } catch (error) {
      await checkpoint(true).catch(() => undefined)
      // The upload was cancelled just before the file was opened, which created the file again.
      if (error instanceof DomainError && error.kind === 'not_found') await store.remove(uploadFile(token))
      throw asDomain(error)
    } finally {
      await file.close()
    }
  }
}

/** Writes the body up to the offset `end`. Returns the error of a broken connection; throws disk errors. */
async function appendBody(
  file: Appender,
  body: AsyncIterable<Uint8Array>,
  end: number,
  beforeWrite: () => Promise<void>,
): Promise<Error | undefined> {
  const chunks = body[Symbol.asyncIterator]()
  while (file.size < end) {
    let next: IteratorResult<Uint8Array>
    try {
      next = await chunks.next()
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error))
    }
    if (next.done) return undefined
    // Without the lease, a write could corrupt bytes of another request.
    await beforeWrite()
    const room = end - file.size
    await file.write(next.value.byteLength > room ? next.value.subarray(0, room) : next.value)
  }
  return undefined
}

/** The header that reports the received bytes; `bytes=0--1` for none. */
export const rangeHeader = (received: number): { range: string } => ({ range: `bytes=0-${received - 1}` })

/** The refusal while another request holds the lease. `afterMs` is when to try again, `received` the current offset. */
export const busy = (afterMs: number, received?: number): DomainError =>
  new DomainError('busy', 'Another request is working on this upload.', {
    headers: {
      'retry-after': String(Math.ceil(afterMs / 1000)),
      ...(received === undefined ? {} : rangeHeader(received)),
    },
  })

function asDomain(error: unknown): unknown {
  if (!isDiskFull(error)) return error
  return new DomainError('unavailable', 'There is no space left on this server.', {
    cause: error,
    headers: { 'retry-after': '60' },
  })
}
