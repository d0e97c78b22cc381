// A rendition by a remote runner: numbers of its playlist are used, and a playlist with other files is refused.

import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals'
import { describeRemoteRendition } from '../../../src/media/ffmpeg/remote-rendition.ts'
import { serverFfmpeg } from '../../support/media.ts'

let made: string
let folder: string
/** As ffmpeg writes it, with the name `made.mp4`. */
let honest: string

beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), 'vireo-remote-rendition-'))
  const { ffmpegPath } = await serverFfmpeg()
  const picture = ['-f', 'lavfi', '-i', 'testsrc=size=192x144:rate=25:duration=4', '-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-g', '25']
  const hls = ['-f', 'hls', '-hls_time', '1', '-hls_playlist_type', 'vod', '-hls_segment_type', 'fmp4', '-hls_flags', 'single_file']
  const files = ['-hls_segment_filename', join(made, 'made.mp4'), join(made, 'made.m3u8')]
  await promisify(execFile)(ffmpegPath, ['-v', 'error', ...picture, ...hls, ...files])
  honest = await readFile(join(made, 'made.m3u8'), 'utf8')
})
afterAll(() => rm(made, { recursive: true }))
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vireo-remote-result-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function describedWith(playlist: string): Promise<string> {
  const [path, playlistPath] = [join(folder, 'result'), join(folder, 'playlist')]
  await copyFile(join(made, 'made.mp4'), path)
  await writeFile(playlistPath, playlist)
  const wanted = { resolution: 144, fps: 25, hasAudio: false, duration: 4 }
  const options = {
    ffmpeg: await serverFfmpeg(),
    wanted,
    path,
    playlistPath,
    folder,
    newUuid: () => 'new',
    signal: AbortSignal.timeout(600_000),
  }
  const { file } = await describeRemoteRendition(options)
  return await readFile(file.hls?.playlistPath ?? '', 'utf8')
}

it.each([
  ['as ffmpeg wrote it', (text: string) => text],
  ['with the line ends of Windows', (text: string) => text.replaceAll('\n', '\r\n')],
  ['of a file with another name', (text: string) => text.replaceAll('made.mp4', 'a b-ü.720p.mp4')],
])('accepts a playlist %s, with a name of this server', async (_, change) => {
  const text = await describedWith(change(honest))
  expect(new Set(text.match(/[^\s"]*\.mp4/g))).toEqual(new Set(['new-144-fragmented.mp4']))
})

it.each([
  ['/etc/passwd', (text: string) => text.replaceAll('made.mp4', '/etc/passwd')],
  ['a folder above', (text: string) => text.replaceAll('made.mp4', '..')],
  ['a file in a folder above', (text: string) => text.replaceAll('made.mp4', '../made.mp4')],
  ['a file above, encoded', (text: string) => text.replaceAll('made.mp4', '..%2fmade.mp4')],
  ['a path of Windows', (text: string) => text.replaceAll('made.mp4', 'C:\\made.mp4')],
  ['an address', (text: string) => text.replaceAll('made.mp4', 'https://example.org/made.mp4')],
  ['data', (text: string) => text.replaceAll('made.mp4', 'data:text/plain')],
])('refuses a playlist that names %s, although its bytes fit', async (_, change) => {
  await expect(describedWith(change(honest))).rejects.toThrow('The playlist names a file elsewhere.')
})

it.each([
  ['another file for its start', (text: string) => text.replace('URI="made.mp4"', 'URI="other.mp4"')],
  ['another file for its end', (text: string) => text.replace(/made\.mp4\n(?=#EXT-X-ENDLIST)/, 'other.mp4\n')],
  ['a key', (text: string) => text.replace('#EXTINF', '#EXT-X-KEY:METHOD=AES-128,URI="key"\n#EXTINF')],
])('refuses a playlist that names %s beside its own file', async (_, change) => {
  expect(change(honest)).not.toBe(honest)
  await expect(describedWith(change(honest))).rejects.toThrow('The playlist names several files.')
})
