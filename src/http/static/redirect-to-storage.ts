// Redirects readers of files in object storage; other files are sent by this server.

import { extname } from 'node:path'
import type { FastifyReply } from 'fastify'
import type { FileRef, SavedAs, Store } from '../../media/index.ts'
import type { Caching } from './caching.ts'

type Addresses = Pick<Store, 'publicAddress' | 'signedAddress' | 'downloadAddress'>

/**
 * Redirects to a public file in object storage; false if it is not there. (A reply cannot be the result of an async function: it is a
 * thenable without a value.) A master playlist stays here: its renditions may be in both places, and are found from here.
 */
export async function redirectToStorage(
  reply: FastifyReply,
  { store, ref, caching }: { store: Addresses; ref: FileRef; caching: Caching },
): Promise<boolean> {
  if (ref.name.endsWith('-master.m3u8')) return false
  const address = await store.publicAddress(ref)
  if (!address) return await redirectToSignedStorage(reply, { store, refs: [ref] })
  reply.headers(caching).redirect(address, 302)
  return true
}

/**
 * The same with signed addresses, for authorised readers; as a download with `saved`. Addresses in a playlist are not signed, so playlists
 * stay here; so does HEAD, as an address is signed for GET.
 */
export async function redirectToSignedStorage(
  reply: FastifyReply,
  { store, refs, saved }: { store: Addresses; refs: readonly FileRef[]; saved?: SavedAs },
): Promise<boolean> {
  if (reply.request.method === 'HEAD') return false
  for (const ref of refs) {
    if (extname(ref.name) === '.m3u8') continue
    const address = await (saved ? store.downloadAddress(ref, saved) : store.signedAddress(ref))
    if (!address) continue
    reply.header('cache-control', 'private, no-store').redirect(address, 302)
    return true
  }
  return false
}
