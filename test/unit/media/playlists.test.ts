// HLS playlists: parsing those of ffmpeg, and writing those for players.

import { describe, expect, it } from '@jest/globals'
import { bandwidthOf, parseMediaPlaylist } from '../../../src/media/ffmpeg/playlists.ts'
import { buildMasterPlaylist, buildSegmentHashes, type HlsEntry } from '../../../src/media/index.ts'

const MEDIA = `#EXTM3U
#EXT-X-VERSION:7
#EXT-X-TARGETDURATION:3
#EXT-X-MEDIA-SEQUENCE:0
#EXT-X-PLAYLIST-TYPE:VOD
#EXT-X-MAP:URI="a-240-fragmented.mp4",BYTERANGE="1352@0"
#EXTINF:3.000000,
#EXT-X-BYTERANGE:36907@1352
a-240-fragmented.mp4
#EXT-X-ENDLIST
`

const entry = (patch: Partial<HlsEntry>): HlsEntry => ({
  resolution: 240,
  width: 320,
  height: 240,
  frameRate: 15,
  hasVideo: true,
  hasAudio: true,
  bandwidth: 102_024,
  averageBandwidth: 100_000,
  codecs: ['avc1.64000c', 'mp4a.40.2'],
  playlistFilename: `a-${patch.resolution ?? 240}.m3u8`,
  filename: `a-${patch.resolution ?? 240}-fragmented.mp4`,
  hashes: { '1352-38258': 'ab' },
  ...patch,
})

describe('a media playlist', () => {
  it('is parsed', () => {
    expect(parseMediaPlaylist(MEDIA)).toEqual({
      init: { offset: 0, length: 1352 },
      segments: [{ duration: 3, offset: 1352, length: 36_907 }],
      targetDuration: 3,
    })
  })

  it('without an init section is an error', () => {
    expect(() => parseMediaPlaylist('#EXTM3U\n#EXT-X-ENDLIST\n')).toThrow('init section')
  })

  it('of one segment has the bandwidth of the whole file, like in the reference', () => {
    expect(bandwidthOf(parseMediaPlaylist(MEDIA), 38_259)).toEqual({ bandwidth: 102_024, averageBandwidth: 102_024 })
  })

  it('has the bandwidth of its heaviest segment, without a short tail', () => {
    const playlist = {
      init: { offset: 0, length: 0 },
      segments: [
        { duration: 4, offset: 0, length: 4000 },
        { duration: 4, offset: 4000, length: 8000 },
        { duration: 0.04, offset: 12_000, length: 4000 },
      ],
      targetDuration: 4,
    }
    expect(bandwidthOf(playlist, 16_000)).toEqual({ bandwidth: 16_000, averageBandwidth: 15_920 })
  })
})

describe('the master playlist', () => {
  it('lists the renditions, highest first', () => {
    expect(buildMasterPlaylist([entry({}), entry({ resolution: 480, width: 640, height: 480, frameRate: 30_000 / 1001 })])).toBe(`#EXTM3U
#EXT-X-VERSION:3


#EXT-X-STREAM-INF:BANDWIDTH=102024,AVERAGE-BANDWIDTH=100000,RESOLUTION=640x480,FRAME-RATE=29.97,CODECS="avc1.64000c,mp4a.40.2"
a-480.m3u8

#EXT-X-STREAM-INF:BANDWIDTH=102024,AVERAGE-BANDWIDTH=100000,RESOLUTION=320x240,FRAME-RATE=15,CODECS="avc1.64000c,mp4a.40.2"
a-240.m3u8
`)
  })

  it('offers separate audio as a group, with its bandwidth in each variant', () => {
    const sound = entry({
      resolution: 0,
      hasVideo: false,
      bandwidth: 54_000,
      averageBandwidth: 50_000,
      codecs: ['mp4a.40.2'],
    })
    const picture = entry({ hasAudio: false, codecs: ['avc1.64000c'] })
    expect(buildMasterPlaylist([sound, picture])).toBe(`#EXTM3U
#EXT-X-VERSION:3

#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio",AUTOSELECT=YES,DEFAULT=YES,URI="a-0.m3u8"

#EXT-X-STREAM-INF:BANDWIDTH=156024,AVERAGE-BANDWIDTH=150000,RESOLUTION=320x240,FRAME-RATE=15,CODECS="avc1.64000c,mp4a.40.2",AUDIO="audio"
a-240.m3u8
`)
  })

  it('lists audio only as a variant if the others have audio too', () => {
    const sound = entry({ resolution: 0, hasVideo: false, bandwidth: 54_000, codecs: ['mp4a.40.2'] })
    const master = buildMasterPlaylist([sound, entry({})])
    expect(master).not.toContain('EXT-X-MEDIA')
    expect(master).toContain('#EXT-X-STREAM-INF:BANDWIDTH=54000,AVERAGE-BANDWIDTH=100000,CODECS="mp4a.40.2"\na-0.m3u8')
  })
})

it('the segment hashes are listed by file and byte range', () => {
  expect(buildSegmentHashes([entry({})])).toEqual({ 'a-240-fragmented.mp4': { '1352-38258': 'ab' } })
})
