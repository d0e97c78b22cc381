// The thread of one torrent: hostile peers and descriptions meet the client here, where it can neither end the server nor hold
// it up. It connects to nobody who is not allowed.

import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import WebTorrent from 'webtorrent'
import { isPublicAddress } from '../../../platform/fetch/addresses.ts'
import { flatStore } from './flat-store.ts'
import type { TorrentNews, TorrentTask } from './messages.ts'
import { faultOf } from './usable.ts'

const { torrent: description, path, maxBytes, dht, allowPrivateAddresses }: TorrentTask = workerData

const isAllowed = (address: string): boolean => allowPrivateAddresses || isPublicAddress(address)
const tell = (news: TorrentNews): void => parentPort?.postMessage(news)

const client = new WebTorrent({
  dht: dht ? { socket: guardedSocket() } : false,
  ...{ lsd: false, utp: false, natUpnp: false, natPmp: false },
  tracker: { wrtc: false },
})
client.blocked = { contains: (host) => !isAllowed(host) }
client.on('error', fail)

const torrent = client.add(description, { path: '', store: flatStore(path), storeCacheSlots: 0 })
torrent.on('error', fail)
torrent.on('warning', () => {})
torrent.once('metadata', () => {
  const reason = faultOf(torrent.files, maxBytes)
  if (!reason) return
  // Before anything is written.
  torrent.destroy({ destroyStore: false }, () => {})
  tell({ type: 'failed', reason, message: '' })
})
torrent.on('download', () => tell({ type: 'progress', percent: torrent.progress * 100 }))
torrent.once('done', () => {
  const name = torrent.files[0]?.name ?? ''
  // Closes the file too.
  torrent.destroy({ destroyStore: false }, () => tell({ type: 'done', name }))
})

function fail(error: unknown): void {
  const code = typeof error === 'object' && error && 'code' in error ? error.code : undefined
  const reason = code === 'ENOSPC' || code === 'EDQUOT' ? 'disk-full' : 'other'
  tell({ type: 'failed', reason, message: error instanceof Error ? error.message : String(error) })
}

/** A socket that sends nothing to addresses that are not allowed: nodes of the table name each other. */
function guardedSocket() {
  const socket = createSocket('udp4')
  const send = socket.send.bind(socket)
  return Object.assign(socket, {
    send(
      bytes: Buffer,
      offset: number,
      length: number,
      port: number,
      host: string,
      done?: (error: Error | null) => void,
    ) {
      if (isIP(host) && isAllowed(host)) send(bytes, offset, length, port, host, done)
      else done?.(new Error('This address is not allowed.'))
    },
  })
}
