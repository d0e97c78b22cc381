// Remote HLS playlists: parses their addresses (RFC 8216) and replaces them by names.

import { MediaError } from '../errors.ts'

export type RemotePlaylist = ReturnType<typeof readRemotePlaylist>

/** Tags for players that fetch keys or switch versions while a video plays. */
const REFUSED = /^#EXT-X-(?:KEY|SESSION-KEY):(?!METHOD=NONE(?:,|\s*$))/m
const URI_ATTRIBUTE = /(\bURI=")([^"]*)(")/g

/**
 * Parses a playlist from `baseUrl`. Throws MediaError `playlist` if it is invalid, still growing or encrypted, or names more than `maxUrls`
 * addresses.
 */
export function readRemotePlaylist(text: string, baseUrl: string, { maxUrls }: { maxUrls: number }) {
  if (!/^\uFEFF?#EXTM3U\s/.test(text)) throw refused('This is no playlist.')
  if (REFUSED.test(text)) throw refused('The playlist is encrypted.')
  const kind: 'master' | 'media' = /^#EXT-X-STREAM-INF:/m.test(text) ? 'master' : 'media'
  if (kind === 'media' && !/^#EXT-X-ENDLIST\s*$/m.test(text)) throw refused('The playlist is still growing.')

  const urls = new Set<string>()
  replaced(text, (uri) => {
    urls.add(absolute(uri, baseUrl))
    if (urls.size > maxUrls) throw refused('The playlist names too many files.')
    return uri
  })
  return {
    kind,
    /** Its absolute addresses, without duplicates, in order. */
    urls: [...urls],
    /** The text with each address replaced by its name; unchanged if they are the same. */
    withNames(nameOf: (url: string) => string) {
      return replaced(text, (uri) => nameOf(absolute(uri, baseUrl)))
    },
  }
}

/** The text with each address in it replaced. */
function replaced(text: string, by: (uri: string) => string): string {
  return text
    .split('\n')
    .map((line) => {
      const bare = line.trim()
      if (bare === '') return line
      if (!bare.startsWith('#')) return line.replace(bare, () => by(bare))
      return line.replace(URI_ATTRIBUTE, (_whole, before: string, uri: string, after: string) => before + by(uri) + after)
    })
    .join('\n')
}

function absolute(uri: string, baseUrl: string): string {
  const url = URL.parse(uri, baseUrl)
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:'
  if (!url || !isHttp || url.username !== '' || url.password !== '') throw refused('The playlist names no http address.')
  url.hash = ''
  return url.href
}

const refused = (message: string): MediaError => new MediaError('playlist', message)
