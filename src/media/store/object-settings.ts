// Configuration of object storage, and addresses of objects. Pure.

import type { FileKind, FileRef } from './store.ts'

export interface Bucket {
  name: string
  /** Prefix of each key. */
  prefix: string
  /** Public address instead of the bucket's, without a trailing slash; empty: none. */
  baseUrl: string
}

export interface ObjectSettings {
  /** With its scheme, without a trailing slash. */
  endpoint: string
  region: string
  /** Empty: those of the environment. */
  credentials: { accessKeyId: string; secretAccessKey: string }
  /** `host/bucket/key` instead of `bucket.host/key`. */
  pathStyle: boolean
  /** Null: none is sent. */
  acl: { public: string | null; private: string | null }
  /** Bytes. */
  maxPart: number
  attempts: number
  /** True if the bucket serves public files without a signature. */
  openBuckets: boolean
  /** Lifetime of a signed address in ms. */
  signedLifetime: number
  buckets: Partial<Record<FileKind, Bucket>>
}

/** True if everybody may read the object. Files of private videos are in folders of that name. */
export function isPublicFile({ kind, name }: FileRef): boolean {
  if (kind === 'web_videos') return !name.startsWith('private/')
  if (kind === 'streaming_playlists') return !name.startsWith('hls/private/')
  return kind === 'redundancy'
}

export const keyOf = (bucket: Bucket, name: string): string => `${bucket.prefix}${name}`

/** The public address of a file; undefined for private ones, and without a public bucket. */
export function objectAddress(settings: ObjectSettings, ref: FileRef): string | undefined {
  const bucket = settings.buckets[ref.kind]
  if (!bucket || !settings.openBuckets || !isPublicFile(ref)) return undefined
  const path = keyOf(bucket, ref.name).split('/').map(encodeURIComponent).join('/')
  return `${bucket.baseUrl || bucketAddress(settings, bucket)}/${path}`
}

function bucketAddress({ endpoint, pathStyle }: ObjectSettings, { name }: Bucket): string {
  if (pathStyle) return `${endpoint}/${name}`
  const [scheme = 'https', host = ''] = endpoint.split('://')
  return `${scheme}://${name}.${host}`
}

/** Origins to which clients may be redirected for files, including signed addresses of the bucket itself. */
export function bucketOrigins(settings: ObjectSettings): string[] {
  const { web_videos, streaming_playlists, redundancy } = settings.buckets
  const buckets = [web_videos, streaming_playlists, redundancy].filter((bucket) => bucket !== undefined)
  const addresses = buckets.flatMap((bucket) => [bucketAddress(settings, bucket), bucket.baseUrl])
  return [...new Set(addresses.filter((address) => address !== '').map((address) => new URL(address).origin))]
}

/** True if the bucket cannot be a subdomain of the host: an IP address, or a name of one label. */
export function needsPathStyle(endpoint: string): boolean {
  const { hostname } = new URL(endpoint)
  return !hostname.includes('.') || hostname.startsWith('[') || /^\d+(\.\d+){3}$/.test(hostname)
}

/** A warning about two kinds whose keys would mix; undefined if all are separate. */
export function mixedBuckets(buckets: ObjectSettings['buckets']): string | undefined {
  const all = Object.entries(buckets)
  for (const [index, [kind, one]] of all.entries()) {
    for (const [other, two] of all.slice(index + 1)) {
      const isMixed = one.prefix.startsWith(two.prefix) || two.prefix.startsWith(one.prefix)
      if (one.name === two.name && isMixed) return `${kind} and ${other} share the bucket ${one.name} and need prefixes`
    }
  }
  return undefined
}
