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
  const channel = async (id: number) =>
    (await listChannels(db, { start: 0, count: 1, sort: { by: 'id', descending: true }, ids: [id] })).rows[0]
  const some = <T>(found: T | undefined, pathOf: (one: T) => string): string | undefined => found && pathOf(found)
  const pathOf: Record<PastedThing['kind'], (id: number) => Promise<string | undefined>> = {
    channel: async (id) => some((await channel(id))?.channel, channelPath),
    account: async (id) => some(await findAccountById(db, id), accountPath),
    video: async (id) => some(await findVideoDetails(db, { id }), watchPath),
    playlist: async (id) => some(await findPlaylistKey(db, { id }), playlistPath),
  }

  return async (text, options) => {
    if (!isPasted(text)) return undefined
    const named = await resolvePasted.anything(text, options)
    return named && (await pathOf[named.kind](named.id))
  }
}
