// Real media files for tests, generated once with ffmpeg and cached in a folder between runs.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Ffmpeg, findFfmpeg } from '../../src/media/index.ts'

const run = promisify(execFile)

const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p']
const AAC = ['-c:a', 'aac', '-b:a', '64k']

const picture = (size: string, rate: number | string, seconds: number): string[] => [
  '-f',
  'lavfi',
  '-i',
  `testsrc=size=${size}:rate=${rate}:duration=${seconds}`,
]
/** Fades from black to white in this time. */
const brightening = (size: string, rate: number | string, seconds: number): string[] => [
  '-f',
  'lavfi',
  '-i',
  `nullsrc=size=${size}:rate=${rate}:duration=${seconds}`,
  '-vf',
  `geq=lum=16+219*T/${seconds}:cb=128:cr=128`,
]
const plain = (colour: string, size: string, seconds: number): string[] => [
  '-f',
  'lavfi',
  '-i',
  `color=c=${colour}:s=${size}:r=25:d=${seconds}`,
]
const sound = (seconds: number): string[] => ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=44100:d=${seconds}`]

/** ffmpeg arguments by file name. */
const generated = {
  /** 2 s, 320 × 240, 25 fps, H.264 and AAC, with a place and an author in its metadata. */
  'small.mp4': [
    ...picture('320x240', 25, 2),
    ...sound(2),
    ...H264,
    ...AAC,
    '-metadata',
    'location=+48.8577+002.2950/',
    '-metadata',
    'artist=Somebody',
    '-movflags',
    'use_metadata_tags',
  ],
  /** 4 s, 640 × 360, with sound: for end-to-end tests. */
  'journey.mp4': [...picture('640x360', 25, 4), ...sound(4), ...H264, ...AAC],
  'silent.mp4': [...picture('320x240', 25, 2), ...H264],
  'portrait.mp4': [...picture('240x426', 25, 1), ...sound(1), ...H264, ...AAC],
  'odd.mkv': [...picture('321x241', 25, 1), ...sound(1), '-c:v', 'ffv1', '-pix_fmt', 'yuv444p', '-c:a', 'libopus'],
  'anamorphic.mp4': [...picture('360x288', 25, 1), '-vf', 'setsar=16/9', ...H264],
  'webm.webm': [...picture('320x180', 30, 2), ...sound(2), '-c:v', 'libvpx', '-b:v', '300k', '-c:a', 'libvorbis'],
  'transport.ts': [...picture('320x240', 25, 2), ...sound(2), ...H264, ...AAC, '-f', 'mpegts'],
  'fast.mp4': [...picture('320x240', 120, 1), ...H264],
  'sound.mp3': [...sound(3), '-c:a', 'libmp3lame', '-b:a', '96k'],
  'sound.ogg': [...sound(2), '-c:a', 'libvorbis'],
  'surround.mp4': [
    ...picture('320x240', 25, 2),
    '-f',
    'lavfi',
    '-i',
    'anullsrc=channel_layout=5.1:sample_rate=48000',
    '-t',
    '2',
    ...H264,
    '-c:a',
    'aac',
    '-b:a',
    '256k',
  ],
  'uncommon.mkv': [...picture('320x240', 25, 1), '-c:v', 'magicyuv', '-pix_fmt', 'yuv420p'],
  /** 6 s of 1080p, H.264 and AAC with low bit rates, so that the top rendition can be copied. */
  'copyable-1080p.mp4': [...picture('1920x1080', 30, 6), ...sound(6), ...H264, '-g', '60', ...AAC],
  /** Each frame lasts a second longer than the one before. */
  'variable.mp4': [...picture('320x240', 25, 2), '-vf', "select='lt(n,20)+not(mod(n,7))'", '-vsync', 'vfr', ...H264],
  /** 8 s with a single key frame. */
  'brightening.mp4': [...brightening('128x72', 25, 8), ...H264, '-g', '1000'],
  /** 2 s of blue with sound, 1 s of red without sound and with another aspect ratio, and 1 s of green with sound, upright. */
  'blue.mp4': [...plain('blue', '160x90', 2), ...sound(2), ...H264, ...AAC],
  'red.mp4': [...plain('red', '64x64', 1), ...H264],
  'green.mp4': [...plain('lime', '90x160', 1), ...sound(1), ...H264, ...AAC],
  /** An hour with a key frame every 10 s. */
  'hour.mp4': [...brightening('64x36', 1, 3600), ...H264, '-g', '10'],
} as const satisfies Record<string, readonly string[]>

/** Files derived from others, or written byte by byte. */
const derived = {
  'rotated.mp4': async ({ media, target, ffmpeg }: Making) => {
    const source = await media('portrait.mp4')
    await run(ffmpeg.ffmpegPath, ['-v', 'error', '-y', '-i', source, '-c', 'copy', target])
    await setMatrix(target, 90)
  },
  'truncated.mp4': async ({ media, target }: Making) => {
    const bytes = await readFile(await media('small.mp4'))
    await writeFile(target, bytes.subarray(0, Math.floor(bytes.length / 2)))
  },
  'truncated-faststart.mp4': async ({ media, target, ffmpeg }: Making) => {
    const whole = `${target}.mp4`
    const source = await media('small.mp4')
    await run(ffmpeg.ffmpegPath, ['-v', 'error', '-y', '-i', source, '-c', 'copy', '-movflags', '+faststart', whole])
    const bytes = await readFile(whole)
    await writeFile(target, bytes.subarray(0, Math.floor(bytes.length * 0.7)))
    await rm(whole)
  },
  'cover.mp3': async ({ media, target, ffmpeg }: Making) => {
    const [song, image] = [await media('sound.mp3'), await media('picture.png')]
    const maps = ['-map', '0', '-map', '1', '-c', 'copy', '-id3v2_version', '3', '-disposition:v', 'attached_pic']
    await run(ffmpeg.ffmpegPath, ['-v', 'error', '-y', '-i', song, '-i', image, ...maps, '-f', 'mp3', target])
  },
  'picture.png': async ({ target, ffmpeg }: Making) => {
    const frame = ['-f', 'lavfi', '-i', 'testsrc=size=640x360:rate=1:duration=1', '-frames:v', '1', '-f', 'image2']
    await run(ffmpeg.ffmpegPath, ['-v', 'error', '-y', ...frame, '-c:v', 'png', target])
  },
  'chapters.mp4': async ({ media, target, ffmpeg }: Making) => {
    const source = await media('small.mp4')
    const chapters = [0, 1].flatMap((at) => ['[CHAPTER]', 'TIMEBASE=1/1', `START=${at}`, `END=${at + 1}`, `title=Part ${at}`])
    await writeFile(`${target}.txt`, [';FFMETADATA1', ...chapters, ''].join('\n'))
    const inputs = ['-i', source, '-f', 'ffmetadata', '-i', `${target}.txt`, '-map', '0', '-map_chapters', '1']
    await run(ffmpeg.ffmpegPath, ['-v', 'error', '-y', ...inputs, '-c', 'copy', target])
    await rm(`${target}.txt`)
  },
  'text.mp4': ({ target }: Making) => writeFile(target, 'This is a text, whatever its name says.\n'.repeat(50)),
  'playlist.mp4': async ({ media, target }: Making) => {
    const local = await media('small.mp4')
    await writeFile(target, `#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n${local}\n#EXT-X-ENDLIST\n`)
  },
  'concat.mp4': async ({ media, target }: Making) => writeFile(target, `ffconcat version 1.0\nfile ${await media('small.mp4')}\n`),
  'empty.mp4': ({ target }: Making) => writeFile(target, ''),
} as const

export type MediaName = keyof typeof generated | keyof typeof derived

interface Making {
  media: (name: MediaName) => Promise<string>
  target: string
  ffmpeg: Ffmpeg
}

/** The ffmpeg under test: `FFMPEG_PATH` and `FFPROBE_PATH`, or what the server itself would find. */
export function testFfmpeg(): Promise<Ffmpeg> {
  found ??= findFfmpeg({ ffmpegPath: process.env.FFMPEG_PATH, ffprobePath: process.env.FFPROBE_PATH })
  return found
}
let found: Promise<Ffmpeg> | undefined

/** The packaged ffmpeg, if there is one: it has encoders that distributions leave out. */
export function packagedFfmpeg(): Promise<Ffmpeg> {
  packaged ??= findFfmpeg({ path: '' }).catch(testFfmpeg)
  return packaged
}
let packaged: Promise<Ffmpeg> | undefined

/**
 * For tests that start ffmpeg often and do not test ffmpeg itself: the packaged one starts thirty times faster than one that is linked to
 * a hundred libraries.
 */
export const serverFfmpeg = (): Promise<Ffmpeg> => (process.env.FFMPEG_PATH ? testFfmpeg() : packagedFfmpeg())

/** Path of a media file, generated on first use. Tests must not write to it: see `copyOfMedia`. */
export function media(name: MediaName): Promise<string> {
  const recipes = JSON.stringify(generated) + Object.values(derived).join()
  return cachedFile(name, recipes, async (target, ffmpeg) => {
    if (isGenerated(name)) await run(ffmpeg.ffmpegPath, ['-v', 'error', '-y', ...generated[name], target])
    else await derived[name]({ media, target, ffmpeg })
  })
}

/** Path of a cached file; `make` generates it unless there is one of the same recipe. */
export async function cachedFile(
  name: string,
  recipe: string,
  make: (target: string, ffmpeg: Ffmpeg) => Promise<unknown>,
  maker: () => Promise<Ffmpeg> = testFfmpeg,
): Promise<string> {
  const ffmpeg = await maker()
  const key = createHash('sha256').update(`${ffmpeg.version}\0${recipe}`).digest('hex').slice(0, 16)
  const folder = join(process.env.VIREO_TEST_KEPT ?? tmpdir(), `vireo-media-${key}`)
  const path = join(folder, name)
  if (await exists(path)) return path
  await mkdir(folder, { recursive: true })
  // Test processes may generate the same file at once; the atomic rename keeps it whole.
  const target = join(folder, `.${process.pid}-${name}`)
  await make(target, ffmpeg)
  await rename(target, path)
  return path
}

/** A copy that the test may modify or move, in a temporary folder. */
export async function copyOfMedia(name: MediaName, folder?: string): Promise<string> {
  const into = folder ?? (await temporaryFolder())
  const path = join(into, name)
  await copyFile(await media(name), path)
  return path
}

/** A new temporary folder; the caller removes it. */
export const temporaryFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'vireo-media-test-'))

const isGenerated = (name: MediaName): name is keyof typeof generated => name in generated

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Writes the clockwise rotation of the picture into the video track's header, as phones do. */
export async function setMatrix(path: string, degrees: 90 | 180 | 270): Promise<void> {
  const bytes = await readFile(path)
  const header = bytes.indexOf('tkhd')
  const [a, b] = { 90: [0, 0x10000], 180: [-0x10000, 0], 270: [0, -0x10000] }[degrees] as [number, number]
  const matrix = [a, b, 0, -b, a, 0, 0, 0, 0x40000000]
  // Version 0: type, version and flags, five times four bytes, eight reserved, four times two bytes.
  const start = header + 4 + 4 + 20 + 8 + 8
  matrix.forEach((value, index) => {
    bytes.writeInt32BE(value, start + index * 4)
  })
  await writeFile(path, bytes)
}
