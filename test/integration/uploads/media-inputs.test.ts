// Some media inputs on the whole server: uploaded over HTTP, then published with the right rows, or refused.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { serverFfmpeg } from '../../support/media.ts'
import { inputs } from '../../support/media-inputs.ts'
import { eventually } from '../../support/until.ts'
import { allFiles, type Disk, makeDisk, rowCounts, startNode, type UploadNode } from './node.ts'

const run = promisify(execFile)

const LADDER = {
  '0p': false,
  '144p': true,
  '240p': false,
  '360p': false,
  '480p': false,
  '720p': false,
  '1080p': false,
  '1440p': false,
  '2160p': false,
}

let disk: Disk
let node: UploadNode
beforeAll(async () => {
  disk = await makeDisk()
  node = await startNode(disk, {
    config: {
      transcoding: { enabled: true, resolutions: LADDER, hls: { enabled: true, split_audio_and_video: true } },
      storyboards: { enabled: false },
    },
  })
})
afterAll(async () => {
  await node.stop()
  await disk.remove()
})
afterEach(async () => {
  for (const { id } of await node.db.query<{ id: number }>("select id from video where state <> 'removed'")) {
    await node.removeVideo.remove(id, { accountId: disk.users.owner.accountId, role: 2 })
  }
  await eventually(async () => expect(await allFiles(disk)).toEqual([]))
})

async function upload(name: string) {
  const input = inputs.find((one) => one.name === name)
  const form = new FormData()
  form.append('name', 'A name')
  form.append('channelId', String(disk.users.owner.channelId))
  form.append('privacy', '1')
  form.append('videofile', new Blob([await readFile((await input?.path()) ?? '')]), name)
  const headers = { authorization: `Bearer ${disk.users.owner.token}` }
  return await fetch(`${node.base}/api/v1/videos/upload`, { method: 'POST', headers, body: form })
}

describe('an uploaded file', () => {
  it.each([
    // Video (short side, width, height), frames per second, duration and aspect ratio; with audio or not.
    ['turned-90.mp4', [48, 48, 64], 25, 1, 0.75, false],
    ['wide-pixels.mp4', [48, 96, 48], 25, 1, 2, false],
    ['hdr-pq.mkv', [48, 64, 48], 25, 1, 1.3333, false],
    ['5.1.mp4', [48, 64, 48], 25, 1, 1.3333, true],
    ['theora-vorbis.ogv', [48, 64, 48], 25, 1, 1.3333, true],
    ['h263-amr.3gp', [96, 128, 96], 30, 1, 1.3333, true],
    ['1000-fps.mkv', [48, 64, 48], 50, 0, 1.3333, false],
    ['huge-start.mkv', [48, 64, 48], 25, 1, 1.3333, true],
    ['hundreds-of-streams.mov', [48, 64, 48], 25, 1, 1.3333, true],
    ['eight-hours.mp4', [16, 16, 16], 2, 28_800, 1, false],
  ] as const)('is published: %s', async (name, [resolution, width, height], fps, duration, aspect, hasSound) => {
    expect((await upload(name)).status).toBe(200)
    await eventually(async () => {
      const [row] = await node.db.query('select v.state, t.state as made from video v join transcoding t on t.video_id = v.id')
      expect(row).toEqual({ state: 'published', made: 'done' })
    })
    const [video] = await node.db.query('select duration, aspect_ratio from video')
    expect(video).toEqual({ duration: expect.any(Number), aspect_ratio: aspect })
    expect(Math.abs(Number(video?.duration) - duration)).toBeLessThanOrEqual(1)
    const files = await node.db.query<Record<string, unknown>>(
      'select resolution, width, height, fps, streams from video_file order by resolution desc',
    )
    // A separate audio file, and none in the video file.
    const sound = { resolution: 0, width: 0, height: 0, fps: 0, streams: 2 }
    const picture = { resolution, width, height, fps, streams: 1 }
    expect(files).toEqual(hasSound ? [picture, sound] : [picture])
  })

  it('with audio only shows a still picture', async () => {
    expect((await upload('sound-with-cover.m4a')).status).toBe(200)
    await eventually(async () => expect(await node.db.query('select state from transcoding')).toEqual([{ state: 'done' }]))
    expect(await node.db.query('select duration, aspect_ratio from video')).toEqual([{ duration: 1, aspect_ratio: 1.7708 }])
  })

  it('that is truncated has the remaining duration', async () => {
    expect((await upload('first-third.mkv')).status).toBe(200)
    await eventually(async () => expect(await node.db.query('select state from transcoding')).toEqual([{ state: 'done' }]))
    const [row] = await node.db.query<{ duration: number }>('select duration from video')
    expect([1, 2]).toContain(row?.duration)
  })

  it('plays from its master playlist, with separate audio and video', async () => {
    expect((await upload('5.1.mp4')).status).toBe(200)
    await eventually(async () => expect(await node.db.query('select state from transcoding')).toEqual([{ state: 'done' }]))
    const master = (await allFiles(disk)).find((name) => name.endsWith('-master.m3u8')) ?? ''
    const path = await disk.store.local(master)
    const text = await readFile(path, 'utf8')
    expect(text).toMatch(/#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio",AUTOSELECT=YES,DEFAULT=YES,URI="[\w-]+-0\.m3u8"/)
    expect(text).toMatch(/RESOLUTION=64x48,FRAME-RATE=25,CODECS="avc1\.[0-9a-f]{6},mp4a\.40\.2",AUDIO="audio"/)
    const { ffmpegPath } = await serverFfmpeg()
    const maps = ['-map', '0:v', '-map', '0:a', '-f', 'null', '-']
    const input = ['-v', 'error', '-allowed_extensions', 'ALL', '-i', path]
    expect((await run(ffmpegPath, [...input, ...maps])).stderr).toBe('')
  })

  it('with Opus audio only is accepted with its own extension', async () => {
    expect((await upload('sound.opus')).status).toBe(200)
  })

  it.each(inputs.flatMap(({ name, expected }) => ('refused' in expected ? [[name, expected.refused]] : [])))(
    'is refused, and nothing of it remains: %s (%s)',
    async (name) => {
      const answer = await upload(name)
      expect(answer.headers.get('content-type')).toContain('application/problem+json')
      expect(answer.status).toBe(422)
      expect(JSON.stringify(await answer.json())).not.toMatch(/\/tmp|whitelist|ffprobe/)
      await eventually(async () => {
        expect(await rowCounts(node.db)).toMatchObject({ video: 0, pending_file: 0 })
        expect(await allFiles(disk)).toEqual([])
      })
    },
  )
})
