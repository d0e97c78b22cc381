// The bytes of an object as one stream that reconnects after a lost connection, which is likely within hours.

import { addAbortSignal, finished, Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { StorageOutage } from '../errors.ts'
import { asStoreError } from './s3-client.ts'

export interface Reading {
  /** The body of the first response, and its expected length, if the store reports it. */
  first: Readable
  length: number | undefined
  /**
   * Opens the bytes from this offset; returns undefined if the object has changed. Throws `not-found`, StorageOutage and refusals. The
   * signal applies to the request and the bytes. Without it, a lost connection is the end.
   */
  reopen: ((from: number, signal: AbortSignal) => Promise<Readable | undefined>) | undefined
  signal?: AbortSignal | undefined
}

/** Ms before each attempt. */
const PAUSES = [100, 500, 2_000]
/** Bytes after which attempts are counted again: a connection that delivers only a few is useless. */
const HEADWAY = 256 * 1024

/**
 * Fails with StorageOutage if a connection is lost and no other one continues with the same object. A connection that is lost while nobody
 * reads, as for slow readers, is reopened on the next read.
 */
export function readOn({ first, length, reopen, signal }: Reading): Readable {
  const leaving = new AbortController()
  let source = first
  let got = 0
  let tries = 0
  let triedAt = 0
  let isWanted = false
  /** What ended the last connection, until there is another one. */
  let lost: unknown

  const stream = new Readable({
    read() {
      const wasWanted = isWanted
      isWanted = true
      if (lost === undefined) source.resume()
      else if (!wasWanted) {
        tries = 0
        goOn()
      }
    },
    destroy(error, done) {
      leaving.abort()
      source.destroy()
      done(error)
    },
  })
  follow(first)
  return signal ? addAbortSignal(signal, stream) : stream

  function follow(bytes: Readable): void {
    source = bytes.pause()
    bytes.on('data', (piece: Buffer) => {
      got += piece.byteLength
      if (stream.push(piece)) return
      isWanted = false
      bytes.pause()
    })
    finished(bytes, { writable: false }, (error) => {
      if (stream.destroyed) return
      // A connection that ends normally may still have been truncated.
      if (length === undefined ? !error : got >= length) return void stream.push(null)
      lost = error ?? new StorageOutage('Object storage sent fewer bytes than it declared.')
      if (isWanted) goOn()
    })
  }

  function goOn(): void {
    if (got - triedAt >= HEADWAY) tries = 0
    triedAt = got
    again().then(
      (bytes) => {
        if (stream.destroyed) return void bytes.destroy()
        lost = undefined
        follow(bytes)
        bytes.resume()
      },
      (error: unknown) => void stream.destroy(asError(asStoreError(error))),
    )
  }

  async function again(): Promise<Readable> {
    for (;;) {
      const ms = PAUSES[tries]
      if (ms === undefined || !reopen) throw lost
      tries += 1
      await pause(ms, undefined, { signal: leaving.signal })
      try {
        const bytes = await reopen(got, leaving.signal)
        if (bytes) return bytes
      } catch (error) {
        if (leaving.signal.aborted || !(error instanceof StorageOutage)) throw error
        lost = error
        continue
      }
      throw new StorageOutage('The file was replaced in object storage while it was read.', { cause: lost })
    }
  }
}

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)))
