// The page of what a pasted address or handle names, on this server or on others.

import { findAccountById } from '../../actors/account/index.ts'
import { listChannels } from '../../actors/channel/index.ts'
import { findPlaylistKey } from '../../actors/playlist/index.ts'
import { findVideoDetails } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import { accountPath, channelPath, playlistPath, watchPath } from './addresses.ts'
import type { PageTools } from './send.ts'

const ADDRESS = /^https?:\/\//i
const HANDLE = /^@?[^@\s/]+@[^@\s/]+$/

/** Whether other servers are asked for whoever asks. */
export const mayFetch = (config: Config, isUser: boolean): boolean =>
  isUser ? config.search.remote_uri.users : config.search.remote_uri.anonymous

/** Undefined for words, and for what cannot be had. */
export type PastedPath = (text: string, options: { fetch: boolean }) => Promise<string | undefined>

export function makePastedPath({ db, resolvePasted }: PageTools): PastedPath {
  async function channel(text: string, options: { fetch: boolean }): Promise<string | undefined> {
    const id = await resolvePasted.channel(text, options)
    if (id === undefined) return undefined
    const sort = { by: 'id', descending: true } as const
    const [found] = (await listChannels(db, { start: 0, count: 1, sort, ids: [id] })).rows
    return found && channelPath(found.channel)
  }

  async function account(text: string, options: { fetch: boolean }): Promise<string | undefined> {
    const id = await resolvePasted.account(text, options)
    const found = id === undefined ? undefined : await findAccountById(db, id)
    return found && accountPath(found)
  }

  async function video(text: string, options: { fetch: boolean }): Promise<string | undefined> {
    const id = await resolvePasted.video(text, options)
    const found = id === undefined ? undefined : await findVideoDetails(db, { id })
    return found && watchPath(found)
  }

  async function playlist(text: string, options: { fetch: boolean }): Promise<string | undefined> {
    const id = await resolvePasted.playlist(text, options)
    const found = id === undefined ? undefined : await findPlaylistKey(db, { id })
    return found && playlistPath(found)
  }

  return async (text, options) => {
    if (HANDLE.test(text)) return (await channel(text, options)) ?? (await account(text, options))
    if (!ADDRESS.test(text)) return undefined
    const path = URL.parse(text)?.pathname ?? ''
    const order = /^\/(?:a|accounts|c|video-channels)\//.test(path)
      ? /^\/a/.test(path)
        ? [account, channel]
        : [channel, account]
      : /^\/(?:w\/p|video-playlists|videos\/watch\/playlist)\//.test(path)
        ? [playlist]
        : /^\/(?:w|videos\/(?:watch|embed))\//.test(path)
          ? [video]
          : [video, channel, account, playlist]
    for (const find of order) {
      const found = await find(text, options)
      if (found !== undefined) return found
    }
    return undefined
  }
}
