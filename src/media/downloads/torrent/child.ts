// The process of one torrent client: hostile peers and metadata can neither stop the server nor block it, and its memory is limited. It
// connects only to allowed addresses, and ends with its parent.

import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'
import WebTorrent from 'webtorrent'
import { isPublicAddress } from '../../../platform/fetch/addresses.ts'
import { flatStore } from './flat-store.ts'
import type { TorrentNews, TorrentTask } from './messages.ts'
import { faultOf, isWasted } from './usable.ts'

/** Interval of progress messages, in ms. */
const REPORT_EVERY = 200

process.once('disconnect', () => process.exit())
// The parent may be gone already.
if (!process.connected) process.exit()
process.once('message', (task: TorrentTask) => download(task))

function download({ torrent: description, path, maxBytes, dht, allowPrivateAddresses }: TorrentTask): void {
  const isAllowed = (address: string): boolean => allowPrivateAddresses || isPublicAddress(address)
  const client = new WebTorrent({
    dht: dht ? { socket: guardedSocket(isAllowed) } : false,
    lsd: false,
    utp: false,
    natUpnp: false,
    natPmp: false,
    tracker: { wrtc: false },
  })
  client.blocked = { contains: (host) => !isAllowed(host) }
  client.on('error', fail)

  const torrent = client.add(description, { path: '', store: flatStore(path, maxBytes), storeCacheSlots: 0 })
  torrent.on('error', fail)
  torrent.on('warning', () => {})
  torrent.once('metadata', () => {
    const reason = faultOf(torrent, maxBytes)
    if (!reason) return
    // Before anything is written.
    torrent.destroy({ destroyStore: false }, () => {})
    end({ type: 'failed', reason, message: '' })
  })
  let reportedAt = Number.NEGATIVE_INFINITY
  let reported = 0
  torrent.on('download', () => {
    if (isWasted(torrent)) end({ type: 'failed', reason: 'wrong-bytes', message: '' })
    // An invalid piece reduces the progress again.
    if (performance.now() - reportedAt < REPORT_EVERY || torrent.progress <= reported) return
    reportedAt = performance.now()
    reported = torrent.progress
    process.send?.({ type: 'progress', percent: reported * 100 } satisfies TorrentNews)
  })
  torrent.once('done', () => {
    const name = torrent.files[0]?.name ?? ''
    // Closes the file too.
    torrent.destroy({ destroyStore: false }, () => end({ type: 'done', name, title: torrent.name }))
  })
}

function fail(error: unknown): void {
  const code = typeof error === 'object' && error && 'code' in error ? error.code : undefined
  const reason = code === 'ENOSPC' || code === 'EDQUOT' ? 'disk-full' : 'other'
  end({ type: 'failed', reason, message: error instanceof Error ? error.message : String(error) })
}

/** Its last message. */
function end(news: TorrentNews): void {
  process.send?.(news, () => process.exit())
}

/** A socket that sends only to allowed addresses: nodes of the hash table name each other. */
function guardedSocket(isAllowed: (address: string) => boolean) {
  const socket = createSocket('udp4')
  const send = socket.send.bind(socket)
  return Object.assign(socket, {
    send(bytes: Buffer, offset: number, length: number, port: number, host: string, done?: (error: Error | null) => void) {
      if (isIP(host) && isAllowed(host)) send(bytes, offset, length, port, host, done)
      else done?.(new Error('This address is not allowed.'))
    },
  })
}
