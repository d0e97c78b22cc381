// Torrents of files, read back by parse-torrent.

import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import parseTorrent from 'parse-torrent'
import { magnetOf, makeTorrent, renewTorrent, swarmsOfPlaylist, type TorrentFacts } from '../../../src/media/index.ts'

const content = Buffer.alloc(40_000, 'abcdefg')
const facts: TorrentFacts = {
  name: 'a video 240p.mp4',
  size: content.length,
  createdAt: new Date('2026-01-02T03:04:05Z'),
  trackers: { http: 'https://tube.example/tracker/announce', webSocket: 'wss://tube.example/tracker/socket' },
  webSeed: 'https://tube.example/static/web-videos/1-240.mp4',
}
const make = (of: Partial<TorrentFacts> = {}) => makeTorrent(Readable.from([content]), { ...facts, ...of })

describe('the torrent of a file', () => {
  it('has the fields and the info hash that parse-torrent reads', async () => {
    const torrent = await make()
    const read = await parseTorrent(Buffer.from(torrent.bytes))
    expect(read).toMatchObject({
      infoHash: torrent.infoHash,
      name: 'a video 240p.mp4',
      length: 40_000,
      pieceLength: 16_384,
      lastPieceLength: 40_000 - 2 * 16_384,
      createdBy: 'Vireo',
      created: facts.createdAt,
      announce: [facts.trackers.webSocket, facts.trackers.http],
      urlList: [facts.webSeed],
    })
    expect(torrent.infoHash).toBe('a9472bdbfb88aeec4af0fbbbabc27c06e317c96d')
  })

  it('is deterministic, for any chunks of the file', async () => {
    const chunks = Readable.from([content.subarray(0, 7), content.subarray(7, 20_000), content.subarray(20_000)])
    expect(await makeTorrent(chunks, facts)).toEqual(await make())
  })

  it('has no web seed for a file that is not public', async () => {
    const read = await parseTorrent(Buffer.from((await make({ webSeed: null })).bytes))
    expect(read).toMatchObject({ urlList: [], infoHash: (await make()).infoHash })
  })

  it('has a name that is no path', async () => {
    const read = await parseTorrent(Buffer.from((await make({ name: '../a\\b\u0000.mp4' })).bytes))
    expect(read).toMatchObject({ name: '.._a_b_.mp4' })
  })

  it('is refused when the file has another length', async () => {
    await expect(make({ size: 39_999 })).rejects.toThrow('not the one')
  })

  it('is aborted by a signal', async () => {
    const endless = Readable.from(
      (async function* () {
        for (;;) yield await setImmediate(Buffer.alloc(1000))
      })(),
    )
    await expect(makeTorrent(endless, facts, { signal: AbortSignal.timeout(20) })).rejects.toThrow()
    expect(endless.destroyed).toBe(true)
  })
})

describe('an updated torrent', () => {
  it('equals a new one, without reading the file', async () => {
    const changed = { ...facts, name: 'another 240p.mp4', webSeed: null }
    expect(await renewTorrent((await make()).bytes, changed)).toEqual(await make(changed))
  })

  it('keeps its info hash when only URLs change', async () => {
    const { bytes, infoHash } = await make()
    expect((await renewTorrent(bytes, { ...facts, webSeed: 'https://other.example/1' }))?.infoHash).toBe(infoHash)
  })

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['other bytes', Buffer.from('d4:infoi5ee')],
    ['a web page', Buffer.from('<html>')],
  ])('is not made of %s', async (_, bytes) => {
    expect(await renewTorrent(bytes, facts)).toBeUndefined()
  })

  it('is not made of the torrent of another file', async () => {
    expect(await renewTorrent((await make()).bytes, { ...facts, size: 1 })).toBeUndefined()
  })
})

describe('peer URLs', () => {
  it('a magnet URI has the parts of the reference, in order', () => {
    const magnet = magnetOf(
      { infoHash: 'a'.repeat(40), torrentUrl: 'http://a.example:9000/lazy-static/torrents/1-240.torrent' },
      { ...facts, displayName: 'one & two + 3' },
    )
    expect(magnet).toBe(
      `magnet:?xs=http%3A%2F%2Fa.example%3A9000%2Flazy-static%2Ftorrents%2F1-240.torrent&xt=urn:btih:${'a'.repeat(40)}` +
        '&dn=one+%26+two+%2B+3&tr=https%3A%2F%2Ftube.example%2Ftracker%2Fannounce' +
        '&tr=wss%3A%2F%2Ftube.example%2Ftracker%2Fsocket&ws=https%3A%2F%2Ftube.example%2Fstatic%2Fweb-videos%2F1-240.mp4',
    )
  })

  it('a playlist has a swarm for each rendition, by the protocol of the players', () => {
    expect(swarmsOfPlaylist('https://tube.example/static/streaming-playlists/hls/1/2-master.m3u8', 2)).toEqual([
      '6a0aec31f48aa58c6c96bd254932c384c28c8aa3',
      '29ab23cd7adec1f911046b472def318c350e7edb',
    ])
  })
})
