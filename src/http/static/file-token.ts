// What comes in the address of a private file: a token of the video, and whether playlists are to carry it on.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError } from '../../actors/runtime/index.ts'
import { assertMaySee, type FileTokens, type VideoAccessRow } from '../../actors/video/index.ts'
import { passwordOf, viewerOf } from '../videos/viewer.ts'

const LONGEST_TOKEN = 2000

/** Clients add their own token to each address of a private video, also to one that has a token already. */
const fileToken = z
  .string()
  .max(LONGEST_TOKEN)
  .transform((sent) => sent.split('?', 1)[0])
export const tokenQuery = z.object({ videoFileToken: fileToken.optional() })
export const playlistQuery = tokenQuery.extend({
  /** Players that ask for something else than yes get the playlist as it is. */
  reinjectVideoFileToken: z
    .string()
    .transform((text) => text === 'true' || text === '1')
    .optional()
    .catch(false),
})

/** Private files are never given to somebody who says nothing about themselves, whatever is at the address. */
export function assertCredentials(request: FastifyRequest, token: string | undefined): void {
  if (request.session || passwordOf(request) !== undefined || token) return
  throw new DomainError('forbidden', 'A bearer token, a file token or the password of the video is needed to read this file.')
}

/** Throws unless the session, the password or the file token of the request lets it read the files of the video. */
export async function assertMayRead(
  fileTokens: FileTokens,
  request: FastifyRequest,
  video: VideoAccessRow,
  token: string | undefined,
): Promise<void> {
  if (token) await fileTokens.holder(token, video)
  else assertMaySee(video, viewerOf(request.session), { password: video.password })
}

/** The playlist with the token behind each address in it, for players that do not put it there themselves. */
export function withTokens(playlist: string, token: string): string {
  const query = `videoFileToken=${encodeURIComponent(token)}`
  const tokened = (address: string): string =>
    `${address}${address.includes('?') ? '&' : '?'}${query}${/\.m3u8($|\?)/.test(address) ? '&reinjectVideoFileToken=true' : ''}`
  return playlist
    .split('\n')
    .map((line) => {
      if (line.startsWith('#')) return line.replaceAll(/URI="([^"]+)"/g, (_all, address) => `URI="${tokened(address)}"`)
      return line.trim() === '' ? line : tokened(line.trimEnd())
    })
    .join('\n')
}
