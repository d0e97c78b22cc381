// Server-side copies in object storage, without downloading the bytes.

import type { S3 } from './s3-client.ts'

/** Bytes. */
export interface CopySizes {
  /** Maximum bytes of one request. */
  largest: number
  /** Of each part of a larger object, but the last. */
  part: number
}

/** `largest` is the limit of S3 itself. */
export const COPY_SIZES: CopySizes = { largest: 5 * 2 ** 30, part: 2 ** 30 }

interface Address {
  Bucket: string
  Key: string
}

export interface Copy {
  from: Address
  to: Address
  /** For example an ACL, which a copy does not inherit. */
  extra: { ACL?: 'private' }
  sizes: CopySizes
}

/** Copies an object atomically; large ones in parts. Errors are those of the library. */
export async function copyObject({ sdk, client }: Pick<S3, 'sdk' | 'client'>, { from, to, extra, sizes }: Copy): Promise<void> {
  const CopySource = `${from.Bucket}/${from.Key.split('/').map(encodeURIComponent).join('/')}`
  const found = await client.send(new sdk.HeadObjectCommand(from))
  const size = found.ContentLength ?? 0
  if (size <= sizes.largest) {
    await client.send(new sdk.CopyObjectCommand({ ...to, ...extra, CopySource }))
    return
  }
  const type = found.ContentType === undefined ? {} : { ContentType: found.ContentType }
  const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ ...to, ...extra, ...type }))
  const upload = { ...to, UploadId }
  try {
    const Parts: { PartNumber: number; ETag: string | undefined }[] = []
    for (let start = 0; start < size; start += sizes.part) {
      const PartNumber = Parts.length + 1
      const CopySourceRange = `bytes=${start}-${Math.min(start + sizes.part, size) - 1}`
      const part = { ...upload, PartNumber, CopySource, CopySourceRange }
      const { CopyPartResult } = await client.send(new sdk.UploadPartCopyCommand(part))
      Parts.push({ PartNumber, ETag: CopyPartResult?.ETag })
    }
    await client.send(new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }))
  } catch (error) {
    await client.send(new sdk.AbortMultipartUploadCommand(upload)).catch(() => undefined)
    throw error
  }
}
