// Subtitle files, valid and broken, converted to WebVTT.

import { describe, expect, it } from '@jest/globals'
import { cleanWebVtt, MediaError, toWebVtt } from '../../../src/media/index.ts'
import { startCpuTime } from '../../support/cpu-time.ts'
import fc from '../../support/properties.ts'

const vtt = (text: string): Promise<string> => toWebVtt(Buffer.from(text))
const cue = (...lines: string[]): string => `WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n${lines.join('\n')}\n`
const numbered = (...lines: string[]): string => `WEBVTT FILE\r\n\r\n1\r\n00:00:01.000 --> 00:00:02.000\r\n${lines.join('\r\n')}\r\n\r\n`
const timed = (text: string): Promise<string> => vtt(`WEBVTT\n\n00:01.000 --> 00:02.000\n${text}\n`)

describe('SubRip', () => {
  it('is converted to WebVTT with its numbers and line ends', async () => {
    expect(
      await vtt('1\r\n00:00:00,500 --> 00:00:01,500\r\nFirst line\r\n\r\n2\r\n00:00:01,600 --> 00:00:02,800\r\nSecond\r\nline\r\n'),
    ).toBe(
      'WEBVTT FILE\r\n\r\n1\r\n00:00:00.500 --> 00:00:01.500\r\nFirst line\r\n\r\n2\r\n00:00:01.600 --> 00:00:02.800\r\nSecond\r\nline\r\n\r\n',
    )
  })

  it('is read in Unicode encodings', async () => {
    const text = '1\n00:00:01,000 --> 00:00:02,000\nÇa c’est déjà l’été\n'
    for (const mark of ['', '\ufeff']) {
      const utf16 = Buffer.from(`${mark}${text}`, 'utf16le')
      for (const bytes of [Buffer.from(`${mark}${text}`), utf16, Buffer.from(utf16).swap16()]) {
        expect(await toWebVtt(bytes)).toBe(numbered('Ça c’est déjà l’été'))
      }
    }
  })

  it.each([
    ['00:00:05,000 --> 00:00:04,000\nbackward', 4],
    ['00:00:05,000 --> 00:00:05,000\nnever', 4],
    ['00:00:05,000 -->\nwithout an end', 4],
    ['00:99:05,000 --> 01:99:05,000\nno time', 4],
    ['00:00:05,000 -> 00:00:06,000\nhalf an arrow', 4],
    [`00:00:05,000 --> 00:00:06,000\n${'x'.repeat(2001)}`, 5],
    [`00:00:05,000 --> 00:00:06,000\n${'x\n'.repeat(51)}`, 4],
  ])('with a lost cue is refused with its line, or read without it: %j', async (bad, line) => {
    const text = `1\n00:00:01,000 --> 00:00:02,000\ngood\n${bad}\n\n3\n00:00:07,000 --> 00:00:08,000\nlast\n`
    await expect(vtt(text)).rejects.toThrow(new RegExp(`^Line ${line} `))
    const lost: number[] = []
    const read = await toWebVtt(Buffer.from(text), { onLoss: (at) => lost.push(at) })
    expect(lost).toEqual([line])
    expect(read).toContain('\r\ngood\r\n\r\n')
    expect(read).toContain('00:00:07.000 --> 00:00:08.000\r\nlast\r\n')
    expect(read).not.toMatch(/backward|never|without|no time|half/)
  })

  it('with text before its first cue is refused', async () => {
    await expect(vtt('Hello\n\n1\n00:00:01,000 --> 00:00:02,000\nx\n')).rejects.toThrow(/^Line 1 /)
  })

  it.each([
    ['a blank line inside of a cue', 'one\n\ntwo\n\n2\n00:00:03,000 --> 00:00:04,000\nthree', ['one\ntwo', 'three']],
    ['several', 'one\n\n\ntwo\n \nthree', ['one\ntwo\nthree']],
    ['no blank line between cues', 'one\n2\n00:00:03,000 --> 00:00:04,000\ntwo', ['one', 'two']],
    ['neither a blank line nor a number', 'one\n00:00:03,000 --> 00:00:04,000\ntwo', ['one', 'two']],
    ['a number as text', '7\n\n2\n00:00:03,000 --> 00:00:04,000\n8\n9\n', ['7', '8\n9']],
    ['a number as text before a cue without one', '42\n00:00:03,000 --> 00:00:04,000\nx', ['42', 'x']],
    ['numbers that do not count', 'one\n\n99\n00:00:03,000 --> 00:00:04,000\ntwo', ['one', 'two']],
    ['text before a cue without a number', 'one\n\ntwo\n00:00:03,000 --> 00:00:04,000\nx', ['one\ntwo', 'x']],
    ['arrows', 'a --> b\n--> --> -->', ['a --&gt; b\n--&gt; --&gt; --&gt;']],
    ['no text', '\n\n2\n00:00:03,000 --> 00:00:04,000\nx', ['x']],
    ['a time without a fraction', 'one\n\n2\n00:00:03 --> 00:00:04\nx', ['one', 'x']],
  ])('with %s loses nothing', async (_what, body, texts) => {
    const read = await vtt(`1\n00:00:01,000 --> 00:00:02,000\n${body}\n`)
    const cues = read.split('\r\n\r\n').slice(1, -1)
    expect(cues.map((one) => one.split('\r\n').slice(2).join('\n'))).toEqual(texts)
  })

  it.each([
    ['{\\an8}above', 'line:0', 'above'],
    ['{\\an7}{\\i1}corner', 'line:0 align:left', 'corner'],
    ['{\\an5}middle', 'line:50%', 'middle'],
    ['{\\an3}right', 'align:right', 'right'],
    ['{\\an2}usual{\\b0}', '', 'usual'],
    ['{\\pos(192,240)}somewhere', '', 'somewhere'],
    ['{\\fad(300,300)\\an9}both', 'line:0 align:right', 'both'],
    ['{ \\an8 }spaced', 'line:0', 'spaced'],
    ['{not one} {', '', '{not one} {'],
  ])('%j has the settings %j', async (sent, settings, text) => {
    expect(await vtt(`1\n00:00:01,000 --> 00:00:02,000\n${sent}\n`)).toBe(
      numbered(text).replace('02.000', `02.000${settings && ' '}${settings}`),
    )
  })
})

describe('WebVTT', () => {
  it('keeps its cues unchanged', async () => {
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
    ['<script>alert(1)</script>', '&lt;script>alert(1)&lt;/script>'],
    ['<img src=x onerror=alert(1)>hello', '&lt;img src=x onerror=alert(1)>hello'],
    ['<b onclick="x">bold</b>', '<b>bold</b>'],
    ['<I>SHOUTED</I>', '<i>SHOUTED</i>'],
    ['<font color="#ff0000">red</font>', 'red'],
    ['<i><iframe src="https://evil.example"></iframe>it</i>', '<i>&lt;iframe src="https://evil.example">&lt;/iframe>it</i>'],
    ['a < b', 'a &lt; b'],
    ['5 < 6 and 7 > 2', '5 &lt; 6 and 7 > 2'],
    ['vector<int> and map<string, vector<int>>', 'vector&lt;int> and map&lt;string, vector&lt;int>>'],
    ['I <3 you', 'I &lt;3 you'],
    ['<<script>script>x', '&lt;&lt;script>script>x'],
    ['<v a"b<c>x', '&lt;v a"b<c>x'],
    ['<ruby>漢<rt>kan</rt></ruby>', '<ruby>漢<rt>kan</rt></ruby>'],
    ['<lang en-GB>hello</lang>', '<lang en-GB>hello</lang>'],
    ['<v.loud Q & A>hello', '<v.loud Q & A>hello'],
    ['look --> there', 'look --&gt; there'],
    ['<00:00:01.500>karaoke', '<00:00:01.500>karaoke'],
    ['<99:99>no time', '&lt;99:99>no time'],
  ])('%s is %s', async (sent, kept) => {
    expect(await timed(sent)).toBe(cue(kept))
  })

  it('keeps text after a blank line, and removes notes', async () => {
    const second = '00:03.000 --> 00:04.000\ntwo'
    expect(await vtt(`WEBVTT\n\nfirst\n00:01.000 --> 00:02.000\none\n\nmore\n\nNOTE\nno\n\nsecond name\n${second}\n`)).toBe(
      'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\none\nmore\n\n00:00:03.000 --> 00:00:04.000\ntwo\n',
    )
  })

  it('of another server is WebVTT, or nothing', async () => {
    expect(await cleanWebVtt(Buffer.from('\ufeffWEBVTT\n\n00:01.000 --> 00:02.000\nx'))).toBe(cue('x'))
    for (const text of ['', '<html>', '1\n00:00:01,000 --> 00:00:02,000\nx', 'WEBVTTX\n']) {
      await expect(cleanWebVtt(Buffer.from(text))).rejects.toThrow(MediaError)
    }
  })
})

/** In legacy encodings, as written by `iconv`, in base64. */
const LEGACY = [
  ['fr', 'windows-1252', 'L’été déjà', 'TJLpdOkgZOlq4A=='],
  ['ru', 'windows-1251', 'Я не знаю, что мы будем делать завтра', '3yDt5SDn7eD+LCD38u4g7Psg4fPk5ewg5OXr4PL8IOfg4vLw4A=='],
  ['ru', 'koi8-r', 'Я не знаю, что мы будем делать завтра', '8SDOxSDazsHALCDe1M8gzdkgwtXExc0gxMXMwdTYINrB19TSwQ=='],
  ['ru', 'ibm866', 'Я не знаю, что мы будем делать завтра', 'nyCtpSCnraDuLCDn4q4grOsgoeOkpawgpKWroOLsIKegouLgoA=='],
  ['uk', 'windows-1251', 'Привіт, що ми будемо робити завтра?', 'z/Do4rPyLCD57iDs6CDh8+Tl7O4g8O7h6PLoIOfg4vLw4D8='],
  ['zh', 'gb18030', '你好，世界，我们明天去哪里', 'xOO6w6OsysC956OsztLDx8P3zOzIpcTEwO8='],
  ['zh-Hant', 'big5', '你好，世界，我們明天去哪裡', 'p0GmbqFBpUCsyaFBp9qtzKn6pNGlaK3+uMw='],
  ['ja', 'shift_jis', 'こんにちは、明日は何をしますか', 'grGC8YLJgr+CzYFBlr6T+oLNib2C8IK1gtyCt4Kp'],
  ['ja', 'euc-jp', 'こんにちは、明日は何をしますか', 'pLOk86TLpMGkz6GizMDG/KTPsr+k8qS3pN6kuaSr'],
  ['ko', 'euc-kr', '안녕하세요 내일 우리는 무엇을 할까요', 'vsiz58fPvLy/5CCzu8DPIL/suK60wiC5q775wLsgx9Kx7r/k'],
  ['pl', 'windows-1250', 'Cześć, zażółć gęślą jaźń', 'Q3plnOYsIHphv/Oz5iBn6pxsuSBqYZ/x'],
  ['pl', 'iso-8859-2', 'Cześć, zażółć gęślą jaźń', 'Q3pltuYsIHphv/Oz5iBn6rZssSBqYbzx'],
  ['el', 'windows-1253', 'Γεια σου κόσμε', 'w+Xp4SDz7/Ug6vzz7OU='],
  ['el', 'iso-8859-7', 'Δεν ξέρω τι να πω. Άλλα λόγια', 'xOXtIO7d8fkg9Okg7eEg8PkuILbr6+Eg6/zj6eE='],
  ['ru', 'x-mac-cyrillic', 'Привет, как дела? Я не знаю', 'j/Do4uXyLCDq4Oog5OXr4D8gnyDt5SDn7eD+'],
  ['tr', 'windows-1254', 'Şimdi ağaç çok güzel', '3mltZGkgYfBh5yDnb2sgZ/x6ZWw='],
  ['he', 'windows-1255', 'שלום עולם, מה שלומך', '+ezl7SDy5eztLCDu5CD57OXu6g=='],
  ['ar', 'windows-1256', 'مرحبا بالعالم، كيف حالك', '49HNyMcgyMfh2sfh46Eg3+3dIM3H4d8='],
  ['th', 'windows-874', 'สวัสดีชาวโลก คุณสบายดีไหม', 'ysfRyrTVqtLH4sWhIKTYs8q60sK01eTLwQ=='],
  ['de', 'windows-1252', 'Größe: ½ m², tschüß', 'R3L232U6IL0gbbIsIHRzY2j83w=='],
  [
    'de',
    'macintosh',
    'Größe ist nicht alles, schöne Grüße über München',
    'R3Kap2UgaXN0IG5pY2h0IGFsbGVzLCBzY2iabmUgR3Kfp2Ugn2JlciBNn25jaGVu',
  ],
  [
    'es',
    'macintosh',
    '¿Cómo estás hoy, señor? ¡Adiós! Mañana será otro día',
    'wEOXbW8gZXN0h3MgaG95LCBzZZZvcj8gwUFkaZdzISBNYZZhbmEgc2VyhyBvdHJvIGSSYQ==',
  ],
  ['bg', 'x-mac-cyrillic', 'Здравей, как си днес? Благодаря, добре съм', 'h+Tw4OLl6Swg6uDqIPHoIOTt5fE/IIHr4OPu5ODw3ywg5O7h8OUg8frs'],
  ['cs', 'iso-8859-2', 'Příliš žluťoučký kůň úpěl, šťastně', 'UPjtbGm5IL5sdbtvdehr/SBr+fIg+nDsbCwgubthc3Ru7A=='],
] as const

function utf32Of(sign: string): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(sign.codePointAt(0) ?? 0)
  return bytes
}

describe('a file in a legacy encoding', () => {
  const file = (...text: Uint8Array[]) => Buffer.concat([Buffer.from('1\n00:00:01,000 --> 00:00:02,000\n'), ...text, Buffer.from('\n')])

  it.each(LEGACY)('is decoded by its language: %s in %s', async (language, _encoding, text, base64) => {
    expect(await toWebVtt(file(Buffer.from(base64, 'base64')), { language })).toBe(numbered(text))
  })

  it.each(LEGACY)('is not mistaken for another encoding because of a damaged byte: %s in %s', async (language, _encoding, text, base64) => {
    const read = await toWebVtt(file(Buffer.from(base64, 'base64'), Buffer.from([0x0a, 0xff])), { language })
    expect(read.split('\r\n')[4]).toBe(text)
  })

  it('is decoded by its letters if the language does not decide', async () => {
    const [, , text = '', base64 = ''] = LEGACY.find(([language]) => language === 'ru') ?? []
    expect(await toWebVtt(file(Buffer.from(base64, 'base64')), { language: 'en' })).toBe(numbered(text))
  })

  it('is refused if nothing decides', async () => {
    const noise = Buffer.from(Array.from({ length: 400 }, (_, index) => 0x80 + ((index * 7919 + index * index * 31) % 128)))
    await expect(toWebVtt(file(noise), { language: 'fr' })).rejects.toThrow(/encoding/)
  })

  it.each([
    ['de', 'IBM 850', 'R3KU4WUgaXN0IG5pY2h0IGFsbGVzLCBzY2iUbmUgR3KB4WUggWJlciBNgW5jaGVu'],
    ['fr', 'IBM 850', 'T5cggnRhaXMtdHUgPyCAYSB2YSwggmyKdmUghSBsJ4Jjb2xl'],
    ['it', 'IBM 850', 'UGVyY2iCIG5vbiCKIGNvc40/IFBplyBvIG1lbm8sIHBlcpUgc40='],
    ['cs', 'IBM 852', 'UP2hbGnnIKdsdZxvdZ9r7CBrheUgo3DYbCDUoGJlbHNrgiCiZHkuIEtkZSBqc2kgYnlsIHafZXJhPw=='],
    ['ru', 'IBM 855', '3eG366jlLCDGoMYgpqjQoD8g4CDUqCDz1KCc'],
    ['ko', 'windows-949', 'uau9vCC4u8C7IMfYvt8gx9LB9iC48LijsNq+7iCMY7nmsKLHzw=='],
    ['ko', 'ISO 2022', 'GyQpQw4+SDNnR088PD9kDyAOMCg7Z0dVNE80WQ8='],
  ])('is refused in an unsupported one: %s in %s', async (language, _encoding, base64) => {
    await expect(toWebVtt(file(Buffer.from(base64, 'base64')), { language })).rejects.toThrow(/encoding/)
  })

  it('is refused in UTF-32', async () => {
    const utf32 = Buffer.concat([...'\ufeff1\n00:01.000 --> 00:02.000\nA\n'].map((sign) => utf32Of(sign)))
    await expect(toWebVtt(utf32)).rejects.toThrow(MediaError)
  })

  it('in UTF-8 keeps the rest where a byte is damaged', async () => {
    const [before, after] = ['Ça déjà ', ' été'].map((text) => Buffer.from(text))
    expect(await toWebVtt(file(before ?? Buffer.of(), Buffer.of(0xe9), after ?? Buffer.of()), { language: 'fr' })).toBe(
      numbered('Ça déjà \ufffd été'),
    )
  })
})

describe('an invalid timing line', () => {
  it.each([
    '-00:00:03,000 --> 00:00:04,000',
    '00:00:03, 000 --> 00:00:04, 000',
    '00:00:03,000 -- > 00:00:04,000',
    '00:00:03,000 —> 00:00:04,000',
    '00:00:03,000 → 00:00:04,000',
    '۰۰:۰۰:۰۳,۰۰۰ --> ۰۰:۰۰:۰۴,۰۰۰',
    '0:00:03.000,0:00:04.000',
    '2 00:00:03,000 --> 00:00:04,000',
    '0O:00:03,000 --> 00:00:04,000',
    'OO:OO:O3,OOO --> 00:00:04,000',
    '00:00:03;000 --> 00:00:04;000',
    '00:00:03,000 --&gt; 00:00:04,000',
    '"00:00:03,000 --> 00:00:04,000"',
  ])('is no text of the previous cue: %s', async (times) => {
    await expect(vtt(`1\n00:00:01,000 --> 00:00:02,000\nA\n\n2\n${times}\nB\n`)).rejects.toThrow(/^Line 6 /)
  })

  it('may have direction marks and other spaces beside the times', async () => {
    const read = await vtt('1\n\u202a00:00:01,000\u00a0-->\u00a000:00:02,000\u202c\nA\n')
    expect(read).toBe(numbered('A'))
  })

  it('is distinguished from text with times in it', async () => {
    const read = await vtt('1\n00:00:01,000 --> 00:00:02,000\n10:30 → 11:00\n12:00:00, then 13:00:00\n')
    expect(read).toBe(numbered('10:30 → 11:00\r\n12:00:00, then 13:00:00'))
  })
})

it('with a fake tag of marks is text', async () => {
  const read = await vtt('1\n00:00:01,000 --> 00:00:02,000\nif (a <b and c> d) <i>x</i> <u >y</u>\n')
  expect(read).toBe(numbered('if (a &lt;b and c> d) <i>x</i> <u>y</u>'))
})

describe('any file', () => {
  it('of text without cues is a file without cues', async () => {
    expect(await vtt('not a video\n')).toBe('WEBVTT\n')
    expect(await vtt('')).toBe('WEBVTT\n')
  })

  it.each([
    ['SubStation Alpha', '[Events]\nFormat: Start, End, Text\nDialogue: 0,0:00:01.00,0:00:02.00,Hello\n', 3],
    ['MicroDVD', '{0}{25}Hello|World\n', 1],
    ['MPL2', '[0][25]Hello\n', 1],
    ['SAMI', '<SAMI><BODY>\n<SYNC Start=1000><P Class=ENCC>Hello\n', 2],
    ['TTML', '<tt><body>\n<p xml:id="a" begin="1s" end="2s">Hello</p>\n', 2],
    ['LRC', '[ti:A song]\n[00:01.00]Hello\n', 2],
    ['SubRip without lines of its own', '1 00:00:01,000 --> 00:00:02,000 Hello\n', 1],
  ])('in another format loses no cues silently: %s', async (_format, text, line) => {
    await expect(vtt(text)).rejects.toThrow(new RegExp(`^Line ${line} `))
  })

  it('that is no text is refused', async () => {
    const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13])
    await expect(toWebVtt(picture)).rejects.toThrow(MediaError)
  })

  it('is unchanged when it is converted again', async () => {
    const piece = fc.oneof(
      fc.constantFrom('-->', '<', '>', '<b>', '</b>', '<script>', '\n', '\n\n', '\r', 'STYLE\n', 'WEBVTT\n\n', '&'),
      fc.constantFrom('00:01.000 --> 00:02.000\n', '00:00:01,000 --> 00:00:03,000 align:start\n', '1\n'),
      fc.string({ unit: 'grapheme', maxLength: 8 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
        const once = await vtt(await toWebVtt(Buffer.from(pieces.join('')), { onLoss: () => {} }))
        expect(await vtt(once)).toBe(once)
        expect(once).not.toMatch(/<script|STYLE\n::cue/)
      }),
    )
  })

  it('of the maximum size is read quickly, in small steps', async () => {
    const many = Buffer.from('1\n00:00:01,000 --> 00:00:02,000\n<a line of text\n\n'.repeat(100_000).slice(0, 2_000_000))
    const tags = `00:01.000 --> 00:02.000\n${`${'<b>'.repeat(666)}\n`.repeat(50)}`
    const spent = startCpuTime()
    expect((await toWebVtt(many)).length).toBeGreaterThan(1000)
    expect(await toWebVtt(Buffer.from('<'.repeat(20_000_000)))).toBe('WEBVTT\n')
    await expect(toWebVtt(Buffer.from('\n'.repeat(20_000_000)))).rejects.toThrow(/too many lines/)
    await expect(toWebVtt(Buffer.from('\r'.repeat(20_000_000)))).rejects.toThrow(/too many lines/)
    const long = Buffer.from(`00:01.000 --> 00:02.000\n${'<'.repeat(10_000_000)}`)
    await expect(toWebVtt(long)).rejects.toThrow(/^Line 2 /)
    expect(await toWebVtt(Buffer.concat([Buffer.alloc(10_000_000, 0xe9), Buffer.from('\n')]), { language: 'fr' })).toBe('WEBVTT\n')
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    await expect(toWebVtt(Buffer.from(`WEBVTT\n\n${tags.repeat(200)}`))).rejects.toThrow(MediaError)
    clearInterval(timer)
    expect(turns).toBeGreaterThan(3)
    expect(spent()).toBeLessThan(8000)
  })

  it('with more cues or text than any film is refused, and not truncated', async () => {
    const film = (cues: number, text: string) => vtt(`WEBVTT\n\n${`00:01.000 --> 00:02.000\n${text}\n\n`.repeat(cues)}`)
    expect((await film(50_000, 'x')).split('\nx\n')).toHaveLength(50_001)
    await expect(film(50_001, 'x')).rejects.toThrow(MediaError)
    await expect(film(4000, 'x'.repeat(1100))).rejects.toThrow(MediaError)
  })
})
