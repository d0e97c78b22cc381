// Readers of files that lie in object storage are sent there. What this server has to send itself, it does.

import { extname } from 'node:path'
import type { FastifyReply } from 'fastify'
import type { FileRef, Store } from '../../media/index.ts'

type Addresses = Pick<Store, 'publicAddress' | 'signedAddress'>

/**
 * A redirect to a public file in object storage; undefined when there is none. A master playlist stays here: its renditions may lie
 * in both places, and are found from here.
 */
export async function sendOn(
  reply: FastifyReply,
  { store, ref, cacheControl }: { store: Addresses; ref: FileRef; cacheControl: string },
): Promise<FastifyReply | undefined> {
  if (ref.name.endsWith('-master.m3u8')) return undefined
  const address = await store.publicAddress(ref)
  if (!address) return await sendOnSigned(reply, { store, refs: [ref] })
  return reply.header('cache-control', cacheControl).redirect(address, 302)
}

/**
 * The same by signed addresses, for whoever may read the files. What a playlist names is not signed, so playlists stay here; so does
 * HEAD, as an address is signed for GET.
 */
export async function sendOnSigned(
  reply: FastifyReply,
  { store, refs }: { store: Addresses; refs: readonly FileRef[] },
): Promise<FastifyReply | undefined> {
  if (reply.request.method === 'HEAD') return undefined
  for (const ref of refs) {
    const address = extname(ref.name) === '.m3u8' ? undefined : await store.signedAddress(ref)
    if (address) return reply.header('cache-control', 'private, no-store').redirect(address, 302)
  }
  return undefined
}
