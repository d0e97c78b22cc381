// Readers of files that lie in object storage are sent there. What this server has to send itself, it does.

import { extname } from 'node:path'
import type { FastifyReply } from 'fastify'
import type { FileRef, SavedAs, Store } from '../../media/index.ts'
import type { Caching } from './caching.ts'

type Addresses = Pick<Store, 'publicAddress' | 'signedAddress' | 'downloadAddress'>

/**
 * Redirects to a public file in object storage; false when there is none. (A reply cannot be the answer of an async function: it
 * is a thenable, of nothing.) A master playlist stays here: its renditions may lie in both places, and are found from here.
 */
export async function sendOn(
  reply: FastifyReply,
  { store, ref, caching }: { store: Addresses; ref: FileRef; caching: Caching },
): Promise<boolean> {
  if (ref.name.endsWith('-master.m3u8')) return false
  const address = await store.publicAddress(ref)
  if (!address) return await sendOnSigned(reply, { store, refs: [ref] })
  reply.headers(caching).redirect(address, 302)
  return true
}

/**
 * The same by signed addresses, for whoever may read the files; as a download with `saved`. What a playlist names is not signed,
 * so playlists stay here; so does HEAD, as an address is signed for GET.
 */
export async function sendOnSigned(
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
