// Subtitle files, right and broken, as the WebVTT that we serve.

import { describe, expect, it } from '@jest/globals'
import { cleanWebVtt, MediaError, toWebVtt } from '../../../src/media/index.ts'
import { startCpuTime } from '../../support/cpu-time.ts'
import fc from '../../support/properties.ts'

const vtt = (text: string): Promise<string> => toWebVtt(Buffer.from(text))
const cue = (...lines: string[]): string => `WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n${lines.join('\n')}\n`
const numbered = (...lines: string[]): string =>
  `WEBVTT FILE\r\n\r\n1\r\n00:00:01.000 --> 00:00:02.000\r\n${lines.join('\r\n')}\r\n\r\n`
const timed = (text: string): Promise<string> => vtt(`WEBVTT\n\n00:01.000 --> 00:02.000\n${text}\n`)

describe('SubRip', () => {
  it('becomes WebVTT with its numbers and line ends', async () => {
    expect(
      await vtt(
        '1\r\n00:00:00,500 --> 00:00:01,500\r\nFirst line\r\n\r\n2\r\n00:00:01,600 --> 00:00:02,800\r\nSecond\r\nline\r\n',
      ),
    ).toBe(
      'WEBVTT FILE\r\n\r\n1\r\n00:00:00.500 --> 00:00:01.500\r\nFirst line\r\n\r\n2\r\n00:00:01.600 --> 00:00:02.800\r\nSecond\r\nline\r\n\r\n',
    )
  })

  it('is read in the encodings that files have', async () => {
    const text = '1\n00:00:01,000 --> 00:00:02,000\nÇa c’est déjà l’été\n'
    const latin = Buffer.from(text.replaceAll('’', "'"), 'latin1')
    const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le')
    expect(await toWebVtt(Buffer.from(`\ufeff${text}`))).toBe(numbered('Ça c’est déjà l’été'))
    expect(await toWebVtt(latin)).toBe(numbered("Ça c'est déjà l'été"))
    expect(await toWebVtt(utf16)).toBe(numbered('Ça c’est déjà l’été'))
    expect(await toWebVtt(Buffer.from(utf16).swap16())).toBe(numbered('Ça c’est déjà l’été'))
  })

  it('keeps no cue that is broken, and loses none beside it', async () => {
    const good = '00:00:01,000 --> 00:00:02,000\ngood'
    for (const bad of [
      '00:00:05,000 --> 00:00:04,000\nbackward',
      '00:00:05,000 --> 00:00:05,000\nnever',
      '00:00:05,000 -->\nwithout an end',
      '00:99:05,000 --> 01:99:05,000\nno time',
      'a --> b\nno time at all',
      '00:00:05,000 --> 00:00:06,000\n',
      '--> --> -->',
      '\u0007\u001b[31m',
    ]) {
      expect(await vtt(`${bad}\n\n1\n${good}\n\n${bad}\n`)).toBe(numbered('good'))
    }
    expect(await vtt(`1\n${good}\n2\n00:00:05,000 --> 00:00:04,000\nbackward`)).toBe(numbered('good', '2'))
  })
})

describe('WebVTT', () => {
  it('keeps its cues as they are', async () => {
    const text = 'WEBVTT\n\n00:00:00.500 --> 00:00:01.500\nFirst line in VTT\n'
    expect(await vtt(text)).toBe(text)
    expect(await timed('<v Roger Bingham>We are <b>in</b> <c.loud>New York</c></v>')).toBe(
      cue('<v Roger Bingham>We are <b>in</b> <c.loud>New York</c></v>'),
    )
    expect(await vtt('WEBVTT\n\n00:01.000 --> 00:02.000 align:start position:10% bad:x line:"0"\nx\n')).toBe(
      'WEBVTT\n\n00:00:01.000 --> 00:00:02.000 align:start position:10%\nx\n',
    )
  })

  it('loses styles, regions, notes and headers', async () => {
    const text = `WEBVTT - a title\nX-TIMESTAMP-MAP=LOCAL:0\n\nSTYLE\n::cue { background: url(https://evil.example/) }\n
REGION\nid:fred\n\nNOTE\nnobody reads this\n\n00:01.000 --> 00:02.000 region:fred\ntext\n`
    expect(await vtt(text)).toBe(cue('text'))
  })

  it.each([
    ['<script>alert(1)</script>', 'alert(1)'],
    ['<img src=x onerror=alert(1)>hello', 'hello'],
    ['<b onclick="x">bold</b>', 'bold</b>'],
    ['<i><iframe src="https://evil.example"></iframe>it</i>', '<i>it</i>'],
    ['a < b', 'a &lt; b'],
    ['<<script>script>x', '&lt;script>x'],
    ['<v a"b<c>x', '&lt;v a"b<c>x'],
    ['look --> there', 'look --&gt; there'],
    ['<00:00:01.500>karaoke', 'karaoke'],
  ])('%s is %s', async (sent, kept) => {
    expect(await timed(sent)).toBe(cue(kept))
  })

  it('of another server is WebVTT, or nothing', async () => {
    expect(await cleanWebVtt(Buffer.from('\ufeffWEBVTT\n\n00:01.000 --> 00:02.000\nx'))).toBe(cue('x'))
    for (const text of ['', '<html>', '1\n00:00:01,000 --> 00:00:02,000\nx', 'WEBVTTX\n']) {
      await expect(cleanWebVtt(Buffer.from(text))).rejects.toThrow(MediaError)
    }
  })
})

describe('any file', () => {
  it('that is text without cues is a file without any', async () => {
    expect(await vtt('not a video\n')).toBe('WEBVTT\n')
    expect(await vtt('')).toBe('WEBVTT\n')
  })

  it('that is no text is refused', async () => {
    const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13])
    await expect(toWebVtt(picture)).rejects.toThrow(MediaError)
  })

  it('gives what reads the same when it is read again', async () => {
    const piece = fc.oneof(
      fc.constantFrom('-->', '<', '>', '<b>', '</b>', '<script>', '\n', '\n\n', '\r', 'STYLE\n', 'WEBVTT\n\n', '&'),
      fc.constantFrom('00:01.000 --> 00:02.000\n', '00:00:01,000 --> 00:00:03,000 align:start\n', '1\n'),
      fc.string({ unit: 'grapheme', maxLength: 8 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
        const once = await vtt(await vtt(pieces.join('')))
        expect(await vtt(once)).toBe(once)
        expect(once).not.toMatch(/<script|STYLE\n::cue/)
      }),
    )
  })

  it('of the largest size is read in time, a little at a time', async () => {
    const many = Buffer.from(
      '1\n00:00:01,000 --> 00:00:02,000\n<a line of text\n\n'.repeat(100_000).slice(0, 2_000_000),
    )
    const tags = `00:01.000 --> 00:02.000\n${`${'<b>'.repeat(666)}\n`.repeat(50)}`
    const spent = startCpuTime()
    expect((await toWebVtt(many)).length).toBeGreaterThan(1000)
    expect(await toWebVtt(Buffer.from('<'.repeat(20_000_000)))).toBe('WEBVTT\n')
    expect(await toWebVtt(Buffer.from('\n'.repeat(20_000_000)))).toBe('WEBVTT\n')
    expect(await toWebVtt(Buffer.from('\r'.repeat(20_000_000)))).toBe('WEBVTT\n')
    expect((await toWebVtt(Buffer.from(`00:01.000 --> 00:02.000\n${'<'.repeat(10_000_000)}`))).length).toBeLessThan(
      20_000,
    )
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    await expect(toWebVtt(Buffer.from(`WEBVTT\n\n${tags.repeat(200)}`))).rejects.toThrow(MediaError)
    clearInterval(timer)
    expect(turns).toBeGreaterThan(3)
    expect(spent()).toBeLessThan(8000)
  })

  it('with more cues or text than any film is refused, and none of it is cut off', async () => {
    const film = (cues: number, text: string) => vtt(`WEBVTT\n\n${`00:01.000 --> 00:02.000\n${text}\n\n`.repeat(cues)}`)
    expect((await film(50_000, 'x')).split('\nx\n')).toHaveLength(50_001)
    await expect(film(50_001, 'x')).rejects.toThrow(MediaError)
    await expect(film(4000, 'x'.repeat(1100))).rejects.toThrow(MediaError)
  })
})
