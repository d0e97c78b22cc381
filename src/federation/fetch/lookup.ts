// Parses text in a search field: addresses of pages and handles, local and remote.

import { asciiHost } from '../../platform/host.ts'
import { fromShortUuid, isUuid } from '../../platform/ids.ts'

export type Pasted =
  | { kind: 'handle'; name: string; host: string }
  /** `url` as entered; `uuid` if the path names one. */
  | { kind: 'video' | 'playlist'; url: string; origin: string; uuid: string }
  | { kind: 'url'; url: string; origin: string }

const MAX_LENGTH = 2000
const HANDLE = /^@?([^@\s/]{1,200})@([^@\s/]{1,260})$/
const ACTOR_PATH = /^\/(?:c|a|video-channels|accounts)\/([^/@]+)(?:@([^/]+))?(?:\/|$)/
/** A local page; on other servers the path may mean anything. */
const OWN_PATH = /^\/@([^/@]+)(?:@([^/]+))?(?:\/[a-z-]+)?\/?$/
/** Clients append playback options after a semicolon. */
const END = '([^/;]+)(?:;[^/]*)?\\/?$'
const VIDEO_PATH = new RegExp(`^\\/(?:videos\\/watch|videos\\/embed|w)\\/${END}`)
const PLAYLIST_PATH = new RegExp(`^\\/(?:videos\\/watch\\/playlist|video-playlists\\/embed|w\\/p|video-playlists)\\/${END}`)

/** The possible meaning of a text; undefined for plain words. */
export function readPasted(text: string, ownOrigin: string): Pasted | undefined {
  const trimmed = text.trim()
  if (trimmed.length > MAX_LENGTH) return undefined
  const handle = HANDLE.exec(trimmed)
  if (handle?.[1] && handle[2]) return { kind: 'handle', name: handle[1], host: asciiHost(handle[2]) }
  if (!/^https?:\/\//i.test(trimmed)) return undefined
  const url = URL.parse(trimmed)
  return url && url.username === '' && url.password === '' ? ofUrl(url, ownOrigin) : undefined
}

function ofUrl(url: URL, ownOrigin: string): Pasted {
  const { origin, href } = url
  const pathname = decoded(url.pathname).replace(/\/{2,}/g, '/')
  const actor = ACTOR_PATH.exec(pathname) ?? (origin === ownOrigin ? OWN_PATH.exec(pathname) : null)
  if (actor?.[1]) return { kind: 'handle', name: actor[1], host: asciiHost(actor[2] ?? url.host) }
  for (const [kind, pattern] of [
    ['playlist', PLAYLIST_PATH],
    ['video', VIDEO_PATH],
  ] as const) {
    const id = pattern.exec(pathname)?.[1]
    const uuid = id === undefined ? undefined : isUuid(id) ? id.toLowerCase() : fromShortUuid(id)
    if (uuid !== undefined) return { kind, url: href, origin, uuid }
  }
  return { kind: 'url', url: href, origin }
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname)
  } catch {
    return pathname
  }
}
