// File tokens in the addresses of pictures, captions and torrents, which browsers load without credentials.

import type { FastifyRequest } from 'fastify'
import { type FileTokens, hasPrivateFiles, type Openness } from '../../actors/video/index.ts'
import { passwordOf } from './viewer.ts'

/** The file token for addresses of the video; undefined if everybody with the link may watch it. */
export type TokenOf = (video: Openness & { id: number; uuid: string }) => Promise<string | undefined>

/** Tokens for the user and the password of the request, with their permissions. */
export const tokensFor =
  (fileTokens: Pick<FileTokens, 'issue'>, request: Pick<FastifyRequest, 'session' | 'headers'>): TokenOf =>
  async (video) => {
    if (!hasPrivateFiles(video)) return undefined
    const ask = { video, userId: request.session?.user.id, password: passwordOf(request) }
    return (await fileTokens.issue(ask)).token
  }

/** For lists of public videos, and lists without addresses of files. */
export const noTokens: TokenOf = async () => undefined

/** Adds the token to an address of this server that has no query. */
export const withFileToken = (address: string, token: string | undefined): string =>
  token === undefined ? address : `${address}?videoFileToken=${encodeURIComponent(token)}`
