// Address of a local file: in its bucket, or on this server. Private files are always served by this server.

import { fileStorages } from '../../actors/video/index.ts'
import type { Here } from './actor.view.ts'

const FOLDERS = { web_videos: 'web-videos', streaming_playlists: 'streaming-playlists' } as const

export function addressOf(
  { origin, objectAddress }: Here,
  { kind, name, storage }: { kind: keyof typeof FOLDERS; name: string; storage: number },
): string {
  const path = `${FOLDERS[kind]}/${name}`
  if (storage !== fileStorages.objectStorage) return `${origin}/static/${path}`
  const isPrivate = /^(?:hls\/)?private\//.test(name)
  return isPrivate ? `${origin}/object-storage-proxy/${path}` : (objectAddress({ kind, name }) ?? `${origin}/static/${path}`)
}
