// The table of media inputs: files that users upload, each with the expected result. Generated with ffmpeg on first use, like all media.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { MediaErrorReason } from '../../src/media/errors.ts'
import type { Ffmpeg } from '../../src/media/index.ts'
import { cachedFile, packagedFfmpeg, setMatrix } from './media.ts'

const run = promisify(execFile)

/** Expected rendition in the resolution of the source. */
export interface Rendition {
  /** Displayed size in px; undefined without video. */
  size: `${number}x${number}`
  fps: number
  /** Hz and channels; undefined without sound. */
  sound?: { channels: number; rate: number }
  /** Seconds. */
  duration: number
  /** Duration in the file's header, in seconds, where it differs. */
  stated?: number
  /** Whether the video stream is copied. */
  copied?: boolean
}

export interface Input {
  name: string
  path: () => Promise<string>
  expected: Rendition | { refused: MediaErrorReason }
}

type Recipe = readonly string[]

const STEREO = { channels: 2, rate: 44_100 }
const MONO = { channels: 1, rate: 44_100 }
const LOW = ['-preset', 'ultrafast']
const h264 = ['-c:v', 'libx264', ...LOW, '-pix_fmt', 'yuv420p']
const h265 = ['-c:v', 'libx265', ...LOW, '-x265-params', 'log-level=none:pools=none:frame-threads=1', '-tag:v', 'hvc1']
const ffv1 = ['-c:v', 'ffv1', '-pix_fmt', 'yuv420p']
const aac = ['-c:a', 'aac', '-b:a', '64k']

const picture = (size = '64x48', rate: number | string = 25, seconds = 1): string[] => [
  '-f',
  'lavfi',
  '-i',
  `testsrc=size=${size}:rate=${rate}:duration=${seconds}`,
]
/** A tone in this channel layout. */
const tone = (layout = 'stereo', rate = 44_100, seconds = 1): string[] => [
  '-f',
  'lavfi',
  '-i',
  `aevalsrc=${Array(CHANNELS[layout]).fill('sin(880*PI*t)/4').join('|')}:c=${layout}:s=${rate}:d=${seconds}`,
]
const CHANNELS: Record<string, number> = { mono: 1, stereo: 2, '5.1': 6, '7.1': 8 }
const bt2020 = (transfer: string): string[] => [
  '-color_primaries',
  'bt2020',
  '-colorspace',
  'bt2020nc',
  '-color_trc',
  transfer,
  '-color_range',
  'tv',
]

/** Video without sound, 64 × 48 px, 25 fps, one second, unless overridden. */
const plain: Rendition = { size: '64x48', fps: 25, duration: 1 }
const withSound: Rendition = { ...plain, sound: STEREO }
const still: Rendition = { size: '850x480', fps: 25, duration: 1, sound: STEREO }
const both = [...picture(), ...tone()]

const generated: [name: string, recipe: Recipe, expected: Input['expected']][] = [
  // Containers and codecs.
  ['h264-aac.mp4', [...both, ...h264, ...aac], { ...withSound, copied: true }],
  ['h264-aac.m4v', [...both, ...h264, ...aac, '-f', 'mp4'], { ...withSound, copied: true }],
  ['h264-aac.flv', [...both, ...h264, ...aac], { ...withSound, copied: true }],
  ['h264-aac.ts', [...both, ...h264, ...aac], { ...withSound, copied: true }],
  ['h264-mp3.mkv', [...both, ...h264, '-c:a', 'libmp3lame'], withSound],
  ['h264-fragmented.mp4', [...picture(), ...h264, '-movflags', 'frag_keyframe+empty_moov'], { ...plain, copied: true }],
  ['h264-10-bit.mp4', [...picture(), '-c:v', 'libx264', ...LOW, '-pix_fmt', 'yuv420p10le'], plain],
  ['h264-444.mkv', [...picture(), '-c:v', 'libx264', ...LOW, '-pix_fmt', 'yuv444p'], plain],
  ['h264-full-range.mp4', [...picture(), '-c:v', 'libx264', ...LOW, '-pix_fmt', 'yuvj420p'], plain],
  ['prores-pcm.mov', [...both, '-c:v', 'prores', '-c:a', 'pcm_s16be'], withSound],
  ['hevc.mp4', [...picture(), ...h265, '-pix_fmt', 'yuv420p'], plain],
  ['hevc-10-bit-ac3.ts', [...both, ...h265, '-pix_fmt', 'yuv420p10le', '-c:a', 'ac3', '-tag:v', '0'], withSound],
  ['ffv1-flac.mkv', [...both, ...ffv1, '-c:a', 'flac'], withSound],
  ['vp8-vorbis.webm', [...both, '-c:v', 'libvpx', '-c:a', 'libvorbis'], withSound],
  [
    'vp9-opus.webm',
    [...both, '-c:v', 'libvpx-vp9', '-cpu-used', '8', '-deadline', 'realtime', '-c:a', 'libopus'],
    { ...withSound, sound: { channels: 2, rate: 48_000 } },
  ],
  [
    'av1.mp4',
    [...picture('64x48', 25, 0.2), '-c:v', 'libaom-av1', '-strict', '-2', '-cpu-used', '8', '-crf', '40', '-b:v', '0'],
    { ...plain, duration: 0.2 },
  ],
  ['mpeg4-mp3.avi', [...both, '-c:v', 'mpeg4', '-c:a', 'libmp3lame'], withSound],
  ['mjpeg-pcm.avi', [...both, '-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p', '-c:a', 'pcm_s16le'], withSound],
  ['flv1-mp3.flv', [...both, '-c:v', 'flv', '-c:a', 'libmp3lame'], withSound],
  ['wmv2-wmav2.wmv', [...both, '-c:v', 'wmv2', '-c:a', 'wmav2'], withSound],
  [
    'mpeg2-mp2.mpg',
    [...picture(), ...tone('stereo', 48_000), '-c:v', 'mpeg2video', '-c:a', 'mp2', '-f', 'mpeg'],
    { ...withSound, sound: { channels: 2, rate: 48_000 } },
  ],
  [
    'mpeg2-ac3.vob',
    [...picture(), ...tone('stereo', 48_000), '-c:v', 'mpeg2video', '-c:a', 'ac3', '-f', 'vob'],
    { ...withSound, sound: { channels: 2, rate: 48_000 } },
  ],
  [
    'mpeg2-pcm.mxf',
    [...picture(), ...tone('stereo', 48_000), '-c:v', 'mpeg2video', '-c:a', 'pcm_s16le'],
    { ...withSound, sound: { channels: 2, rate: 48_000 } },
  ],
  ['theora-vorbis.ogv', [...both, '-c:v', 'libtheora', '-c:a', 'libvorbis'], withSound],
  [
    'h263-amr.3gp',
    [...picture('128x96', '30000/1001'), ...tone('mono', 8000), '-c:v', 'h263', '-c:a', 'libopencore_amrnb', '-ar', '8000', '-ac', '1'],
    { size: '128x96', fps: 29.97, duration: 1, sound: { channels: 2, rate: 8000 } },
  ],
  // Sizes and shapes.
  ['odd.webm', [...picture('65x47'), '-c:v', 'libvpx', '-pix_fmt', 'yuv420p'], { ...plain, size: '66x48' }],
  ['2x2.mkv', [...picture('2x2'), ...ffv1], { ...plain, size: '2x2' }],
  ['16x16.mp4', [...picture('16x16'), ...h264], { ...plain, size: '16x16', copied: true }],
  ['portrait.mkv', [...picture('36x64'), ...ffv1], { ...plain, size: '36x64' }],
  ['very-wide.mkv', [...picture('512x16'), ...ffv1], { ...plain, size: '512x16' }],
  ['very-high.mkv', [...picture('16x512'), ...ffv1], { ...plain, size: '16x512' }],
  ['above-the-ladder.mkv', [...picture('3840x2400', 25, 0.04), ...ffv1], { ...plain, size: '3840x2400', duration: 0.04 }],
  ['wide-pixels.mp4', [...picture(), '-vf', 'setsar=3/2', ...h264], { ...plain, size: '96x48' }],
  ['narrow-pixels.mkv', [...picture(), '-vf', 'setsar=1/2', ...ffv1], { ...plain, size: '32x48' }],
  // Rates.
  ['1-fps.mp4', [...picture('64x48', 1, 3), ...h264], { ...plain, fps: 1, duration: 3 }],
  ['2-fps.mp4', [...picture('64x48', 2, 2), ...h264], { ...plain, fps: 2, duration: 2, copied: true }],
  ['half-fps.mkv', [...picture('64x48', '1/2', 4), ...ffv1], { ...plain, fps: 1, duration: 4 }],
  ['10-fps.mkv', [...picture('64x48', 10), ...ffv1], { ...plain, fps: 10 }],
  ['film.mkv', [...picture('64x48', '24000/1001'), ...ffv1], { ...plain, fps: 23.976 }],
  ['ntsc.mkv', [...picture('64x48', '30000/1001'), ...ffv1], { ...plain, fps: 29.97 }],
  ['50-fps.mp4', [...picture('64x48', 50), ...h264], { ...plain, fps: 50, copied: true }],
  ['60-fps.mkv', [...picture('64x48', 60), ...ffv1], { ...plain, fps: 60 }],
  ['120-fps.mp4', [...picture('64x48', 120), ...h264], { ...plain, fps: 60 }],
  ['1000-fps.mkv', [...picture('64x48', 1000, 0.5), ...ffv1], { ...plain, fps: 50, duration: 0.5 }],
  [
    'variable.mp4',
    [...picture('64x48', 25, 2), '-vf', "select='lt(n,20)+not(mod(n,6))'", '-vsync', 'vfr', '-c:v', 'mpeg4'],
    { ...plain, fps: 13, duration: 2 },
  ],
  [
    'paused.mp4',
    [...picture('64x48', 5, 30), '-vf', "select='lt(t,2)+gt(t,25)'", '-vsync', 'vfr', '-c:v', 'mpeg4'],
    { ...plain, fps: 1, duration: 30 },
  ],
  // Colours and interlacing.
  ['hdr-pq.mkv', [...picture(), ...h265, '-pix_fmt', 'yuv420p10le', ...bt2020('smpte2084')], plain],
  ['hdr-hlg.mp4', [...picture(), ...h265, '-pix_fmt', 'yuv420p10le', ...bt2020('arib-std-b67')], plain],
  ['wide-gamut.mkv', [...picture(), '-c:v', 'ffv1', '-pix_fmt', 'yuv420p10le', ...bt2020('bt2020-10')], plain],
  [
    'interlaced.ts',
    [...picture('64x64', 50), '-vf', 'tinterlace=4', '-c:v', 'mpeg2video', '-flags', '+ildct+ilme', '-top', '1'],
    { ...plain, size: '64x64' },
  ],
  ['rgb.mov', [...picture(), '-c:v', 'png', '-pix_fmt', 'rgb24'], plain],
  ['transparent.mov', [...picture(), '-c:v', 'qtrle', '-pix_fmt', 'argb'], plain],
  // Audio.
  ['mono.mp4', [...picture(), ...tone('mono'), ...h264, ...aac], { ...plain, sound: MONO, copied: true }],
  ['5.1.mp4', [...picture(), ...tone('5.1', 48_000), ...h264, ...aac], { ...plain, sound: { channels: 2, rate: 48_000 }, copied: true }],
  ['7.1.mkv', [...picture(), ...tone('7.1', 48_000), ...h264, '-c:a', 'flac'], { ...plain, sound: { channels: 2, rate: 48_000 } }],
  ['96-khz.mkv', [...picture(), ...tone('stereo', 96_000), ...h264, '-c:a', 'flac'], { ...plain, sound: { channels: 2, rate: 48_000 } }],
  [
    'several-sounds.mp4',
    [...picture(), ...tone('mono'), ...tone('stereo', 48_000), '-map', '0', '-map', '1', '-map', '2', ...h264, ...aac],
    { ...plain, sound: MONO, copied: true },
  ],
  ['late-sound.mp4', [...picture(), '-itsoffset', '0.4', ...tone('stereo', 44_100, 0.6), ...h264, ...aac], { ...withSound, copied: true }],
  ['no-sound.mp4', [...picture(), ...h264], { ...plain, copied: true }],
  ['long.mkv', [...picture('64x48', 25, 4), ...ffv1, '-g', '1'], { ...plain, duration: 4 }],
  // Audio only: it is shown with a still picture.
  ['sound.mp3', [...tone(), '-c:a', 'libmp3lame'], still],
  ['sound.flac', [...tone(), '-c:a', 'flac'], still],
  ['sound.ogg', [...tone(), '-c:a', 'libvorbis'], still],
  ['sound.m4a', [...tone(), ...aac], still],
  ['sound.wav', [...tone(), '-c:a', 'pcm_s24le'], still],
  ['sound.opus', [...tone(), '-c:a', 'libopus'], { ...still, sound: { channels: 2, rate: 48_000 } }],
  [
    'ten-channels.mov',
    [
      ...picture(),
      '-f',
      'lavfi',
      '-i',
      `aevalsrc=${Array(10).fill('sin(880*PI*t)/8').join('|')}:s=48000:d=1`,
      ...h264,
      '-c:a',
      'pcm_s16le',
    ],
    { ...plain, sound: { channels: 2, rate: 48_000 } },
  ],
  ['picture-ends-first.mp4', [...picture(), ...tone('stereo', 44_100, 3), ...h264, ...aac], { ...withSound, duration: 3 }],
  ['picture-ends-first.mkv', [...picture(), ...tone('stereo', 44_100, 3), ...ffv1, '-c:a', 'flac'], { ...withSound, duration: 3 }],
  // Unusual, but valid.
  ['without-times.avi', [...picture(), '-c:v', 'libx264', '-bf', '3', '-pix_fmt', 'yuv420p'], plain],
  ['one-frame.mp4', [...picture(), '-frames:v', '1', ...h264], { ...plain, duration: 0.04 }],
  ['one-frame.mkv', [...picture(), '-frames:v', '1', ...ffv1], { ...plain, duration: 0.04 }],
  ['huge-start.ts', [...both, '-c:v', 'mpeg2video', ...aac, '-output_ts_offset', '90000'], withSound],
  ['huge-start.mkv', [...both, ...ffv1, ...aac, '-output_ts_offset', '90000'], withSound],
  ['negative-start.ts', [...both, '-c:v', 'mpeg2video', ...aac, '-output_ts_offset', '-3', '-avoid_negative_ts', 'disabled'], withSound],
  ['timecode.mov', [...both, ...h264, ...aac, '-timecode', '01:00:00:00'], { ...withSound, copied: true }],
  [
    'hundreds-of-streams.mov',
    [
      ...picture('64x48', 25, 0.5),
      ...tone('mono', 8000, 0.5),
      '-map',
      '0',
      ...Array(199).fill(['-map', '1']).flat(),
      ...ffv1,
      '-c:a',
      'pcm_s16le',
    ],
    { ...plain, duration: 0.5, sound: { channels: 2, rate: 8000 } },
  ],
  [
    'eight-hours.mp4',
    ['-f', 'lavfi', '-i', 'color=s=16x16:r=2:d=28800', ...h264, '-g', '20'],
    { size: '16x16', fps: 2, duration: 28_800, copied: true },
  ],
  // Players fetch whole segments, which begin at key frames.
  [
    'one-key-frame.mp4',
    ['-f', 'lavfi', '-i', 'testsrc=size=64x48:rate=10:duration=30', ...h264, '-g', '1000'],
    { ...plain, fps: 10, duration: 30 },
  ],
  // Refused.
  [
    'hours-of-nothing.mkv',
    [...picture('64x48', 1, 5), '-vf', "setpts='(N+gt(N,2)*72000)/TB'", '-vsync', 'passthrough', ...ffv1],
    { refused: 'too-long' },
  ],
  ['uncommon.mkv', [...picture(), '-c:v', 'magicyuv', '-pix_fmt', 'yuv420p'], { refused: 'unsupported-codec' }],
  ['uncommon.avi', [...picture(), '-c:v', 'snow', '-strict', '-2'], { refused: 'unsupported-codec' }],
  [
    'encrypted.mp4',
    [
      ...both,
      ...h264,
      ...aac,
      '-encryption_scheme',
      'cenc-aes-ctr',
      '-encryption_key',
      '76a6c65c5ea762046bd749a2e632ccbb',
      '-encryption_kid',
      'a7e61c373e219033c21091fa607bf3b8',
    ],
    { refused: 'unreadable' },
  ],
  ['sound-of-nothing.wav', [...tone(), '-t', '0', '-c:a', 'pcm_s16le'], { refused: 'empty' }],
  ['too-slow.mkv', [...picture('64x48', '1/20', 60), ...ffv1], { refused: 'frame-rate' }],
  ['too-large.mkv', [...picture('17000x16', 25, 0.04), ...ffv1], { refused: 'too-large' }],
]

interface Making {
  ffmpeg: Ffmpeg
  target: string
  /** Path of another input. */
  of: (name: string) => Promise<string>
}

const ffmpegOf = async ({ ffmpeg }: Making, args: string[]): Promise<void> => {
  await run(ffmpeg.ffmpegPath, ['-v', 'error', '-y', ...args])
}

/** Like `name`, with the rotation that phones write. */
const turned =
  (degrees: 90 | 180 | 270) =>
  async (making: Making): Promise<void> => {
    await ffmpegOf(making, ['-i', await making.of('no-sound.mp4'), '-c', 'copy', making.target])
    await setMatrix(making.target, degrees)
  }

const withCover =
  (sound: string, format: string) =>
  async (making: Making): Promise<void> => {
    const maps = [
      '-map',
      '0',
      '-map',
      '1',
      '-c:a',
      'copy',
      '-c:v',
      'mjpeg',
      '-frames:v',
      '1',
      '-disposition:v',
      'attached_pic',
      '-id3v2_version',
      '3',
    ]
    await ffmpegOf(making, ['-i', await making.of(sound), ...picture(), ...maps, '-f', format, making.target])
  }

const part =
  (of: string, share: number) =>
  async (making: Making): Promise<void> => {
    const bytes = await readFile(await making.of(of))
    await writeFile(making.target, bytes.subarray(0, Math.floor(bytes.length * share)))
  }

const oneImage =
  (codec: string) =>
  (making: Making): Promise<void> =>
    ffmpegOf(making, [...picture('640x360'), '-frames:v', '1', '-c:v', codec, '-f', 'image2', making.target])

/** Incompressible, and the same in every run. */
const noise = (bytes: number): Buffer =>
  Buffer.concat(Array.from({ length: Math.ceil(bytes / 32) }, (_, at) => createHash('sha256').update(`${at}`).digest()))

const derived: [name: string, make: (making: Making) => Promise<unknown>, expected: Input['expected']][] = [
  ['turned-90.mp4', turned(90), { ...plain, size: '48x64' }],
  ['turned-180.mp4', turned(180), plain],
  ['turned-270.mp4', turned(270), { ...plain, size: '48x64' }],
  [
    'turned-by-tag.mkv',
    async (making) => {
      // ffmpeg would turn a tag of that name into a matrix.
      const tag = ['-metadata:s:v', 'rotatX=90']
      await ffmpegOf(making, ['-i', await making.of('no-sound.mp4'), '-c', 'copy', ...tag, making.target])
      const bytes = await readFile(making.target)
      bytes.write('ROTATE', bytes.indexOf('ROTATX'))
      await writeFile(making.target, bytes)
    },
    { ...plain, size: '48x64' },
  ],
  ['sound-with-cover.m4a', withCover('sound.m4a', 'ipod'), still],
  ['sound-with-cover.mp3', withCover('sound.mp3', 'mp3'), still],
  [
    'late-picture.mp4',
    async (making) => {
      const [film, song] = [await making.of('no-sound.mp4'), await making.of('sound.m4a')]
      await ffmpegOf(making, ['-itsoffset', '0.4', '-i', film, '-i', song, '-c', 'copy', making.target])
    },
    { ...withSound, duration: 1.4 },
  ],
  [
    'cut-out.mp4',
    async (making) => {
      // The edit list skips the first half.
      await ffmpegOf(making, ['-ss', '0.5', '-i', await making.of('h264-aac.mp4'), '-c', 'copy', making.target])
    },
    { ...withSound, duration: 0.5 },
  ],
  [
    'subtitles.mkv',
    async (making) => {
      const text = `${making.target}.srt`
      await writeFile(text, '1\n00:00:00,000 --> 00:00:01,000\nWords\n')
      const maps = ['-map', '0', '-map', '1', '-c', 'copy', '-c:s', 'ass', '-attach', text, '-metadata:s:t', 'mimetype=text/plain']
      await ffmpegOf(making, ['-i', await making.of('ffv1-flac.mkv'), '-i', text, ...maps, making.target])
      await rm(text)
    },
    withSound,
  ],
  [
    'no-duration.webm',
    async (making) => {
      const { stdout } = await run(
        making.ffmpeg.ffmpegPath,
        ['-v', 'error', '-i', await making.of('vp8-vorbis.webm'), '-c', 'copy', '-f', 'webm', '-'],
        { encoding: 'buffer' },
      )
      await writeFile(making.target, stdout)
    },
    withSound,
  ],
  [
    'sound-without-duration.webm',
    async (making) => {
      const { stdout } = await run(
        making.ffmpeg.ffmpegPath,
        ['-v', 'error', '-i', await making.of('vp8-vorbis.webm'), '-vn', '-c', 'copy', '-f', 'webm', '-'],
        { encoding: 'buffer' },
      )
      await writeFile(making.target, stdout)
    },
    still,
  ],
  [
    'no-rate.avi',
    async (making) => {
      const bytes = await readFile(await making.of('mpeg4-mp3.avi'))
      // Scale and rate of the picture's stream header.
      bytes.fill(0, bytes.indexOf('strh') + 28, bytes.indexOf('strh') + 36)
      await writeFile(making.target, bytes)
    },
    withSound,
  ],
  [
    'changing-size.ts',
    async (making) => {
      const mpeg2 = ['-c:v', 'mpeg2video', '-f', 'mpegts']
      const parts = [`${making.target}.1`, `${making.target}.2`]
      await ffmpegOf(making, [...picture(), ...mpeg2, parts[0] ?? ''])
      await ffmpegOf(making, [...picture('32x32'), '-output_ts_offset', '1', ...mpeg2, parts[1] ?? ''])
      await writeFile(making.target, Buffer.concat(await Promise.all(parts.map((part) => readFile(part)))))
      await Promise.all(parts.map((part) => rm(part)))
    },
    { ...plain, duration: 2 },
  ],
  [
    'between-key-frames.ts',
    async (making) => {
      const x264 = ['-c:v', 'libx264', '-g', '50', '-sc_threshold', '0', '-pix_fmt', 'yuv420p']
      await ffmpegOf(making, [...picture('64x48', 25, 4), ...tone('stereo', 44_100, 4), ...x264, ...aac, making.target])
      const bytes = await readFile(making.target)
      const [tables, cut] = [188 * 3, 188 * Math.floor(bytes.length / 188 / 4)]
      await writeFile(making.target, Buffer.concat([bytes.subarray(0, tables), bytes.subarray(cut)]))
    },
    { ...withSound, duration: 3 },
  ],
  [
    'scratched.avi',
    async (making) => {
      const bytes = await readFile(await making.of('mjpeg-pcm.avi'))
      bytes.fill(0x55, Math.floor(bytes.length * 0.4), Math.floor(bytes.length * 0.42))
      await writeFile(making.target, bytes)
    },
    withSound,
  ],
  ['mp4-named.avi', async (making) => copyFile(await making.of('h264-aac.mp4'), making.target), { ...withSound, copied: true }],
  ['matroska-named.mp4', async (making) => copyFile(await making.of('ffv1-flac.mkv'), making.target), withSound],
  ['first-third.mkv', part('long.mkv', 1 / 3), { ...plain, duration: 1.3, stated: 4 }],
  ['first-half.mkv', part('ffv1-flac.mkv', 0.5), { ...withSound, duration: 0.5 }],
  ['empty.mp4', ({ target }) => writeFile(target, ''), { refused: 'empty' }],
  ['without-its-end.mp4', part('h264-aac.mp4', 0.9), { refused: 'truncated' }],
  [
    'without-its-middle.mp4',
    async (making) => {
      const whole = `${making.target}.mp4`
      await ffmpegOf(making, ['-i', await making.of('h264-aac.mp4'), '-c', 'copy', '-movflags', '+faststart', whole])
      const bytes = await readFile(whole)
      await writeFile(making.target, bytes.subarray(0, Math.floor(bytes.length * 0.6)))
      await rm(whole)
    },
    { refused: 'truncated' },
  ],
  ['noise.mp4', ({ target }) => writeFile(target, noise(20_000)), { refused: 'not-media' }],
  ['zeros.mkv', ({ target }) => writeFile(target, Buffer.alloc(20_000)), { refused: 'not-media' }],
  ['text.mp4', ({ target }) => writeFile(target, 'Words, whatever the name says.\n'.repeat(100)), { refused: 'not-media' }],
  ['script.mp4', ({ target }) => writeFile(target, '#EXTM3U\n#EXTINF:4,\nfile:///etc/passwd\n'), { refused: 'playlist' }],
  ['picture-png.mp4', oneImage('png'), { refused: 'not-media' }],
  ['picture-jpeg.mp4', oneImage('mjpeg'), { refused: 'not-media' }],
  ['picture-gif.mp4', (making) => ffmpegOf(making, [...picture(), '-f', 'gif', making.target]), { refused: 'not-media' }],
  [
    'only-subtitles.mkv',
    async (making) => {
      const text = `${making.target}.srt`
      await writeFile(text, '1\n00:00:00,000 --> 00:00:01,000\nWords\n')
      await ffmpegOf(making, ['-i', text, '-f', 'matroska', making.target])
      await rm(text)
    },
    { refused: 'no-streams' },
  ],
]

export const inputs: Input[] = [
  ...generated.map(
    ([name, recipe, expected]): Input => ({
      name,
      expected,
      path: () =>
        cachedMedia(name, JSON.stringify(recipe), (target, { ffmpegPath }) => run(ffmpegPath, ['-v', 'error', '-y', ...recipe, target])),
    }),
  ),
  ...derived.map(
    ([name, make, expected]): Input => ({
      name,
      expected,
      path: () => cachedMedia(name, make.toString(), (target, ffmpeg) => make({ ffmpeg, target, of: pathOf })),
    }),
  ),
]

/** All tests of the table share the files. */
function cachedMedia(name: string, recipe: string, make: Parameters<typeof cachedFile>[2]): Promise<string> {
  return cachedFile(name, recipe, make, packagedFfmpeg)
}

async function pathOf(name: string): Promise<string> {
  const input = inputs.find((one) => one.name === name)
  if (!input) throw new Error(`There is no input ${name}.`)
  return await input.path()
}
