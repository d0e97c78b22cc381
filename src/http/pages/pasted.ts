// The page of a pasted address or handle, local or remote.

import { findAccountById } from '../../actors/account/index.ts'
import { listChannels } from '../../actors/channel/index.ts'
import { findPlaylistKey } from '../../actors/playlist/index.ts'
import { findVideoDetails } from '../../actors/video/index.ts'
import { accountPath, channelPath, playlistPath, watchPath } from './addresses.ts'
import type { PageTools, PastedThing } from './send.ts'

const ADDRESS = /^https?:\/\//i
const HANDLE = /^@?[^@\s/]+@[^@\s/]+$/

/** True for an address or handle, false for words. */
export const isPasted = (text: string): boolean => HANDLE.test(text) || ADDRESS.test(text)

/** Undefined for words, and for what cannot be found. */
export type PastedPath = (text: string, options: { fetch: boolean }) => Promise<string | undefined>

export function makePastedPath({ db, resolvePasted }: PageTools): PastedPath {
  const pathOf: Record<PastedThing['kind'], (id: number) => Promise<string | undefined>> = {
    async channel(id) {
      const sort = { by: 'id', descending: true } as const
      const [found] = (await listChannels(db, { start: 0, count: 1, sort, ids: [id] })).rows
      return found && channelPath(found.channel)
    },

    async account(id) {
      const found = await findAccountById(db, id)
      return found && accountPath(found)
    },

    async video(id) {
      const found = await findVideoDetails(db, { id })
      return found && watchPath(found)
    },

    async playlist(id) {
      const found = await findPlaylistKey(db, { id })
      return found && playlistPath(found)
    },
  }

  return async (text, options) => {
    if (!isPasted(text)) return undefined
    const named = await resolvePasted.anything(text, options)
    return named && (await pathOf[named.kind](named.id))
  }
}
