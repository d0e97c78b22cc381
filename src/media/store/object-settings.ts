// What of the configuration object storage needs, and the addresses of objects. Pure.

import type { FileKind, FileRef } from './store.ts'

export interface Bucket {
  name: string
  /** First part of each key. */
  prefix: string
  /** Public address in place of the bucket's, without a slash at the end; empty: none. */
  baseUrl: string
}

export interface ObjectSettings {
  /** With its scheme, without a slash at the end. */
  endpoint: string
  region: string
  /** Empty: those of the environment. */
  credentials: { accessKeyId: string; secretAccessKey: string }
  /** `host/bucket/key` in place of `bucket.host/key`. */
  pathStyle: boolean
  /** Null: none is sent. */
  acl: { public: string | null; private: string | null }
  /** Bytes. */
  maxPart: number
  attempts: number
  /** Whether public files are read at the bucket without a signature. */
  openBuckets: boolean
  /** Ms that a signed address holds. */
  signedLifetime: number
  buckets: Partial<Record<FileKind, Bucket>>
}

/** Whether everybody may read the object. Files of private videos lie in folders of that name. */
export function isPublicFile({ kind, name }: FileRef): boolean {
  if (kind === 'web_videos') return !name.startsWith('private/')
  if (kind === 'streaming_playlists') return !name.startsWith('hls/private/')
  return kind === 'redundancy'
}

export const keyOf = (bucket: Bucket, name: string): string => `${bucket.prefix}${name}`

/** The address that everybody reads a public file at; undefined for others, and where there is no such bucket. */
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

/** Where clients may be sent for files, private ones by signed addresses of the bucket itself too. */
export function bucketOrigins(settings: ObjectSettings): string[] {
  const { web_videos, streaming_playlists, redundancy } = settings.buckets
  const buckets = [web_videos, streaming_playlists, redundancy].filter((bucket) => bucket !== undefined)
  const addresses = buckets.flatMap((bucket) => [bucketAddress(settings, bucket), bucket.baseUrl])
  return [...new Set(addresses.filter((address) => address !== '').map((address) => new URL(address).origin))]
}

/** Whether the host has no room for a bucket in front of it: an IP address, or a name of one label. */
export function needsPathStyle(endpoint: string): boolean {
  const { hostname } = new URL(endpoint)
  return !hostname.includes('.') || hostname.startsWith('[') || /^\d+(\.\d+){3}$/.test(hostname)
}

/** Two kinds whose keys would mix, as a line for the operator; undefined when all are apart. */
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
