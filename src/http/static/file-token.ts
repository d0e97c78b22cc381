// Query parameters of private files: a token of the video, and whether playlists must propagate it.

import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { DomainError } from '../../actors/runtime/index.ts'
import { assertMaySee, type FileTokens, type VideoAccessRow } from '../../actors/video/index.ts'
import { passwordOf, viewerOf } from '../videos/viewer.ts'

const LONGEST_TOKEN = 2000

/** Clients add their own token to each address of a private video, even if it has a token already. */
const fileToken = z
  .string()
  .max(LONGEST_TOKEN)
  .transform((sent) => sent.split('?', 1)[0])
export const tokenQuery = z.object({ videoFileToken: fileToken.optional() })
export const playlistQuery = tokenQuery.extend({
  /** Any value other than true leaves the playlist unchanged. */
  reinjectVideoFileToken: z
    .string()
    .transform((text) => text === 'true' || text === '1')
    .optional()
    .catch(false),
})

/** Refuses requests without credentials, before anything is looked up. */
export function assertCredentials(request: FastifyRequest, token: string | undefined): void {
  if (request.session || passwordOf(request) !== undefined || token) return
  throw new DomainError('forbidden', 'A bearer token, a file token or the password of the video is needed to read this file.')
}

/** Throws unless the session, the password or the file token of the request allows reading the files of the video. */
export async function assertMayRead(
  fileTokens: FileTokens,
  request: FastifyRequest,
  video: VideoAccessRow,
  token: string | undefined,
): Promise<void> {
  if (token) await fileTokens.holder(token, video)
  else assertMaySee(video, viewerOf(request.session), { password: video.password })
}

/** The playlist with the token added to each address, for players that do not add it themselves. */
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
