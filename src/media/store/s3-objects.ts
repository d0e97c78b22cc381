// Single objects of one bucket: the basis of the store and its uploads.

import { createReadStream } from 'node:fs'
import { rm, stat as statFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { MediaError, systemCode } from '../errors.ts'
import { contentTypeOf } from './content-types.ts'
import { type Bucket, isPublicFile, keyOf, type ObjectSettings } from './object-settings.ts'
import { asStoreError, isMissing, isReplaced, loadS3, reasonOf, type S3 } from './s3-client.ts'
import { COPY_SIZES, type CopySizes, copyObject } from './s3-copy.ts'
import { readOn } from './s3-reading.ts'
import { makeSilenceGuard, PATIENCE, type Patience } from './s3-silence.ts'
import { type ByteRange, type FileKind, type FileRef, type FileStat, isLocalFile, type SavedAs, type Source } from './store.ts'

const MIN_PART = 5 * 2 ** 20
const USUAL_PART = 16 * 2 ** 20
/** A multipart upload has 10,000 parts at most. */
const MAX_PARTS = 9_000
const PARTS_AT_ONCE = 2

export type S3Objects = ReturnType<typeof makeS3Objects>

export function makeS3Objects(
  settings: ObjectSettings,
  { copySizes = COPY_SIZES, patience = PATIENCE }: { copySizes?: CopySizes; patience?: Patience } = {},
) {
  const { ask, assertSpeaking } = makeSilenceGuard(patience)
  const small = { requestTimeout: patience.answer }
  let loading: Promise<S3> | undefined
  const s3 = (): Promise<S3> => {
    loading ??= loadS3(settings).catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }

  const bucketOf = (kind: FileKind): Bucket => {
    const bucket = settings.buckets[kind]
    if (!bucket) throw new Error(`There is no bucket for ${kind}.`)
    return bucket
  }

  const addressOf = ({ kind, name }: FileRef) => {
    const bucket = bucketOf(kind)
    return { Bucket: bucket.name, Key: keyOf(bucket, name) }
  }

  const aclOf = (ref: FileRef): { ACL?: 'private' } => {
    const acl = settings.acl[isPublicFile(ref) ? 'public' : 'private']
    // The type does not cover the ACLs of all stores.
    return acl === null ? {} : { ACL: acl as 'private' }
  }

  const partSizeFor = (bytes: number): number =>
    Math.max(MIN_PART, Math.min(settings.maxPart, Math.max(USUAL_PART, Math.ceil(bytes / MAX_PARTS))))

  async function upload(ref: FileRef, body: Readable | Uint8Array, bytes: number): Promise<void> {
    const { client, sdk, Upload } = await s3()
    const address = addressOf(ref)
    const params = { ...address, ...aclOf(ref), Body: body, ContentType: contentTypeOf(ref.name) }
    const options = { partSize: partSizeFor(bytes), queueSize: PARTS_AT_ONCE, leavePartsOnError: true }
    const task = new Upload({ client, params, ...options })
    try {
      await task.done()
    } catch (error) {
      if (body instanceof Readable) body.destroy()
      // Parts that cannot be deleted expire by the bucket's rule; the original error is thrown.
      const parts = { ...address, UploadId: task.uploadId }
      if (task.uploadId) await client.send(new sdk.AbortMultipartUploadCommand(parts)).catch(() => undefined)
      throw asStoreError(error)
    }
  }

  async function uploadStream(ref: FileRef, from: Readable): Promise<void> {
    const source = watched(from)
    try {
      await upload(ref, source.stream, 0)
    } catch (error) {
      const fault = source.fault()
      from.destroy()
      throw fault ? fault.error : error
    }
  }

  /** The response to a reader, whose body must be read or destroyed. Errors are those of the library. */
  async function fetchBytes(
    ref: FileRef,
    range: { start: number; end: number | undefined } | undefined,
    { signal, etag }: { signal: AbortSignal | undefined; etag?: string | undefined },
  ) {
    const { reader, sdk } = await s3()
    assertSpeaking()
    const bytes = range ? { Range: `bytes=${range.start}-${range.end ?? ''}` } : {}
    const condition = etag === undefined ? {} : { IfMatch: etag }
    const command = new sdk.GetObjectCommand({ ...addressOf(ref), ...bytes, ...condition })
    const answer = await reader.send(command, { ...(signal ? { abortSignal: signal } : {}), ...small })
    const { Body: body, ContentLength: length, ContentRange: part = '' } = answer
    if (!(body instanceof Readable)) throw new Error('The object has no bytes.')
    const [, start = 0, size = length] = /(\d+)-\d+\/(\d+)$/.exec(part) ?? []
    return {
      answer,
      body,
      etag: answer.ETag,
      length,
      start: Number(start),
      size: size === undefined ? undefined : Number(size),
    }
  }

  async function sizeOfFile(path: string): Promise<number> {
    try {
      return (await statFile(path)).size
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error
      throw new MediaError('not-found', 'There is no such file.')
    }
  }

  return {
    async head(ref: FileRef): Promise<FileStat | undefined> {
      const { client, sdk } = await s3()
      try {
        const found = await ask(() => client.send(new sdk.HeadObjectCommand(addressOf(ref)), small))
        return toStat(ref.name, found.ContentLength, found)
      } catch (error) {
        if (isMissing(error)) return undefined
        throw asStoreError(error)
      }
    },

    /** The stream reconnects after a lost connection (`readOn`), and ends with the signal. */
    async get(ref: FileRef, range?: ByteRange, signal?: AbortSignal): Promise<{ stat: FileStat; stream: Readable }> {
      const found = await fetchBytes(ref, range, { signal }).catch((error: unknown) => {
        throw asStoreError(error)
      })
      const { answer, body, etag, start, length, size } = found
      const stat = toStat(ref.name, size, answer)
      const end = length === undefined ? undefined : start + length - 1
      const reopen = async (from: number, until: AbortSignal) => {
        try {
          const rest = await fetchBytes(ref, { start: start + from, end }, { signal: until, etag })
          // Not every store supports the condition.
          if (rest.etag === etag && rest.start === start + from) return rest.body
          rest.body.destroy()
          return undefined
        } catch (error) {
          if (isReplaced(error)) return undefined
          throw asStoreError(error)
        }
      }
      // Without an ETag, nothing tells whether the object is still the same.
      return { stat, stream: readOn({ first: body, length, reopen: etag === undefined ? undefined : reopen, signal }) }
    },

    /** Atomic. A local file is removed afterwards unless `keep` is set. */
    async put(ref: FileRef, from: Source) {
      if (from instanceof Uint8Array) return await upload(ref, from, from.byteLength)
      if (!isLocalFile(from)) return await uploadStream(ref, from)
      const size = await sizeOfFile(from.path)
      await upload(ref, createReadStream(from.path), size)
      if (from.keep !== true) await rm(from.path, { force: true })
    },

    async remove(ref: FileRef) {
      const { client, sdk } = await s3()
      try {
        await ask(() => client.send(new sdk.DeleteObjectCommand(addressOf(ref)), small))
      } catch (error) {
        if (!isMissing(error)) throw asStoreError(error)
      }
    },

    /** Copies inside object storage. Throws `not-found`. */
    async copy(ref: FileRef, target: FileRef): Promise<void> {
      try {
        const extra = aclOf(target)
        await copyObject(await s3(), { from: addressOf(ref), to: addressOf(target), extra, sizes: copySizes })
      } catch (error) {
        throw asStoreError(error)
      }
    },

    /** All objects with this name prefix. */
    async *list(kind: FileKind, start: string): AsyncGenerator<FileStat> {
      const { client, sdk } = await s3()
      const bucket = bucketOf(kind)
      const input = { Bucket: bucket.name, Prefix: keyOf(bucket, start) }
      try {
        // Stores with many objects may take long to list them.
        const pages = sdk.paginateListObjectsV2({ client }, input)
        for (let page = await ask(() => pages.next()); !page.done; page = await ask(() => pages.next())) {
          for (const found of page.value.Contents ?? []) {
            const { Key: key = '' } = found
            yield toStat(key.slice(bucket.prefix.length), found.Size, found)
          }
        }
      } catch (error) {
        throw asStoreError(error)
      }
    },

    async sign(ref: FileRef, saved?: SavedAs) {
      const { client, sdk, getSignedUrl } = await s3()
      const expiresIn = Math.ceil(settings.signedLifetime / 1000)
      const wanted = saved && { ResponseContentDisposition: saved.disposition, ResponseContentType: saved.type }
      return await getSignedUrl(client, new sdk.GetObjectCommand({ ...addressOf(ref), ...wanted }), { expiresIn })
    },

    /** A problem of the bucket, as one line for the operator. */
    async complaint(kind: FileKind): Promise<string | undefined> {
      const { name } = bucketOf(kind)
      try {
        const { client, sdk } = await s3()
        await client.send(new sdk.ListObjectsV2Command({ Bucket: name, MaxKeys: 1 }))
        return undefined
      } catch (error) {
        return `bucket ${name} at ${settings.endpoint}: ${reasonOf(error)}`
      }
    },

    /** Closes its connections. */
    async close() {
      const { client, reader } = (await loading) ?? {}
      client?.destroy()
      reader?.destroy()
    },
  }
}

/** The same bytes, and the error of the source, to distinguish it from one of the store. */
function watched(source: Readable): { stream: Readable; fault(): { error: unknown } | undefined } {
  let fault: { error: unknown } | undefined
  const pieces = source[Symbol.asyncIterator]()
  const next = async () => {
    try {
      return await pieces.next()
    } catch (error) {
      fault = { error }
      throw error
    }
  }
  async function* bytes(): AsyncGenerator<unknown> {
    // Errors of the store's side come out of `yield`, and are not the source's.
    for (let piece = await next(); !piece.done; piece = await next()) yield piece.value
  }
  return { stream: Readable.from(bytes(), { objectMode: false }), fault: () => fault }
}

function toStat(name: string, size: number | undefined, found: { LastModified?: Date | undefined; ETag?: string | undefined }): FileStat {
  const etag = found.ETag ?? ''
  return {
    name,
    size: size ?? 0,
    modifiedAt: found.LastModified ?? new Date(0),
    etag: etag.startsWith('"') ? etag : `"${etag}"`,
  }
}
