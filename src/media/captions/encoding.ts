// Decodes a subtitle file of any encoding.

import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import { compileCacheEnv } from '../../platform/compile-cache.ts'
import { runInSlices } from '../../platform/time-slices.ts'
import { MediaError } from '../errors.ts'
import type { DetectionTask, Guess } from './detect-encoding.ts'

/**
 * Tries certain encodings first: a byte order mark, UTF-16 by its zeros, UTF-8. For encodings before Unicode the detector gives the likely
 * ones, and those that are common for the language (a tag such as `pt-BR`) are preferred if they give its letters. A damaged byte becomes
 * U+FFFD, without affecting others. Throws MediaError `not-media` unless it is a text in a recognisable encoding.
 */
export async function decodeText(bytes: Uint8Array, language?: string): Promise<string> {
  const unicode = utf16Of(bytes) ?? iso2022Of(bytes) ?? (await utf8Of(bytes))
  if (unicode !== undefined) return unicode
  const sample = sampleOf(bytes)
  const guesses = await oneAtATime(() => detect({ sample, encodings: [...DETECTED, ...UNREADABLE] }))
  const [best] = candidatesOf(sample, guesses, expectationOf(language ?? '')).toSorted((one, other) => other.score - one.score)
  if (!best || best.score < LEAST_SCORE || isRatherUnreadable(sample, guesses, best)) throw unknownEncoding()
  const text = decode(bytes, best.encoding)
  // Windows has more syllables than EUC-KR, which this decoder does not support.
  if (best.encoding === 'euc-kr' && /[\u0080-\u009f]/.test(text)) throw unknownEncoding()
  return text
}

interface Expectation {
  languages: readonly string[]
  /** Matches a letter of these languages. */
  script: RegExp
  /** The most common one first. */
  encodings: readonly string[]
  /** Matches letters of the script that these languages lack, but that appear in place of theirs in a wrong encoding. */
  foreign?: RegExp
}

const LATIN = /\p{Script=Latin}/u
const CYRILLIC = /\p{Script=Cyrillic}/u
const CYRILLIC_ENCODINGS = ['windows-1251', 'koi8-r', 'koi8-u', 'ibm866', 'iso-8859-5', 'x-mac-cyrillic']
const CHINESE = /\p{Script=Han}/u
const SIMPLIFIED = { script: CHINESE, encodings: ['gb18030', 'big5'] }
const TRADITIONAL = { script: CHINESE, encodings: ['big5', 'gb18030'] }

const EXPECTATIONS: readonly Expectation[] = [
  {
    languages: ['ru', 'be', 'bg', 'uk', 'kk', 'ky', 'mn', 'tg', 'tt', 'ba', 'cv'],
    script: CYRILLIC,
    encodings: CYRILLIC_ENCODINGS,
    foreign: /[ЂЃЅЈЉЊЋЌЏђѓѕјљњћќџ]/g,
  },
  { languages: ['mk', 'sr-cyrl'], script: CYRILLIC, encodings: CYRILLIC_ENCODINGS },
  { languages: ['zh-hant', 'zh-tw', 'zh-hk', 'zh-mo', 'yue'], ...TRADITIONAL },
  { languages: ['zh', 'cmn', 'wuu'], ...SIMPLIFIED },
  {
    languages: ['ja'],
    script: /[\p{Script=Han}\p{Script=Hiragana}\u30a0-\u30ff]/u,
    encodings: ['shift_jis', 'euc-jp'],
  },
  { languages: ['ko'], script: /\p{Script=Hangul}/u, encodings: ['euc-kr'] },
  { languages: ['el'], script: /\p{Script=Greek}/u, encodings: ['windows-1253', 'iso-8859-7'] },
  { languages: ['he', 'yi'], script: /\p{Script=Hebrew}/u, encodings: ['windows-1255', 'iso-8859-8'] },
  {
    languages: ['ar', 'fa', 'ur', 'ps', 'ug'],
    script: /\p{Script=Arabic}/u,
    encodings: ['windows-1256', 'iso-8859-6'],
  },
  { languages: ['th'], script: /\p{Script=Thai}/u, encodings: ['windows-874'] },
  { languages: ['tr', 'az', 'ku'], script: LATIN, encodings: ['windows-1254'] },
  { languages: ['lt', 'lv', 'et'], script: LATIN, encodings: ['windows-1257', 'iso-8859-13'] },
  { languages: ['vi'], script: LATIN, encodings: ['windows-1258'] },
  {
    languages: ['pl', 'cs', 'sk', 'hu', 'sl', 'hr', 'bs', 'ro', 'sq', 'sr-latn', 'hsb', 'dsb'],
    script: LATIN,
    encodings: ['windows-1250', 'iso-8859-2', 'iso-8859-16'],
  },
  {
    languages: ['sr'],
    script: /[\p{Script=Cyrillic}\p{Script=Latin}]/u,
    encodings: ['windows-1250', 'windows-1251', 'iso-8859-2'],
  },
]
const WESTERN = { languages: [], script: LATIN, encodings: ['windows-1252', 'iso-8859-15', 'macintosh'] }

const DETECTED = [...new Set([...EXPECTATIONS, WESTERN].flatMap(({ encodings }) => encodings))]

/** Encodings of DOS that cannot be decoded here; text in one of them often passes for another. */
const UNREADABLE = ['cp437', 'cp737', 'cp850', 'cp852', 'ibm855', 'cp862']

/** Names of the detector that the Encoding Standard lacks. */
const ALIASES: Readonly<Record<string, string>> = {
  cp932: 'shift_jis',
  cp949: 'euc-kr',
  cp950: 'big5',
  cp874: 'windows-874',
  maccyrillic: 'x-mac-cyrillic',
  macroman: 'macintosh',
}

/** The script of the language outweighs the detector's guess from a few words. */
const EXPECTED_BONUS = 1
/** Breaks ties of the detector. */
const USUAL_BONUS = 0.005
const RARE_MALUS = 0.03
/**
 * Capitals and signs within words, and signs before words that stand alone or after them. Caseless letters, as in Chinese, may have signs
 * between them, and apostrophes and dashes occur in words of many languages.
 */
const ODD =
  /(?<=\p{Ll})[\p{Lu}--[A-Z]]|(?<=[\p{Ll}--[a-z]])[A-Z]|(?<=[\p{Ll}\p{Lu}])[[\p{S}\p{No}†‡‰§¶«»„“”‚¡¿•·]--[\0-\x7f]](?=[\p{Ll}\p{Lu}])|¤|[¶¬¦¨¯´¸ˇ˘˙˛˝](?=\p{Ll})|(?<=\p{Ll})‚|(?<!\p{L})[œŒŸ](?!\p{L})|ς(?=\p{L})/gv
const ODD_MALUS = 2
/** Share of the characters beyond ASCII. */
const MAX_ODD = 0.2
/** Box-drawing characters. */
const BOXES = /[\u2500-\u259f]/g
const MAX_FOREIGN = 0.05
const ODD_AT_LEAST = 2
const LEAST_SCORE = 0.02
/** Margin by which an unsupported encoding must win. */
const CLEARLY = 0.15
const CLEARLY_MORE = 3
/** Share of a text. */
const MAX_DAMAGED = 0.02
/** A damaged byte may also damage neighbouring characters. */
const DAMAGED_AT_LEAST = 4
const LEAST_OF_SCRIPT = 0.8
/** Share of letters with marks: in languages in the Latin script most have none. */
const MAX_MARKED = 0.6
const FEW_LETTERS = 5
const SAMPLE_BYTES = 16_384
/** Characters per turn of the event loop. */
const TURN = 100_000

function candidatesOf(sample: Uint8Array, guesses: readonly Guess[], expected: Expectation) {
  const sure = new Map<string, number>()
  for (const { encoding, confidence } of guesses) {
    const name = nameOf(encoding)
    if (name !== undefined) sure.set(name, Math.max(confidence, sure.get(name) ?? 0))
  }
  return [...new Set([...expected.encodings, ...sure.keys()])].flatMap((encoding) => {
    const text = decode(sample, encoding)
    if (!isText(text)) return []
    const isExpected = expected.encodings.includes(encoding) && isWrittenIn(text, expected.script)
    const bonus = (isExpected ? EXPECTED_BONUS : 0) + (encoding === expected.encodings[0] ? USUAL_BONUS : 0)
    const malus = (isRare(encoding) ? RARE_MALUS : 0) + oddnessOf(text, expected) * ODD_MALUS
    const confidence = sure.get(encoding) ?? 0
    return [{ encoding, confidence, score: confidence + bonus - malus }]
  })
}

const isRare = (encoding: string): boolean => encoding.includes('mac') || encoding === 'iso-8859-15'

/** True if a DOS encoding is more likely. Encodings of Macs put other letters into the same places. */
function isRatherUnreadable(sample: Uint8Array, guesses: readonly Guess[], best: { encoding: string; confidence: number }): boolean {
  const dos = guesses.filter(({ encoding }) => UNREADABLE.includes(encoding.toLowerCase()))
  const likely = Math.max(0, ...dos.map(({ confidence }) => confidence))
  if (best.encoding.includes('mac')) {
    return likely > best.confidence && /[\p{L}--[a-zA-Z]]/v.test(decode(sample, best.encoding))
  }
  return likely > CLEARLY && likely > best.confidence * CLEARLY_MORE
}

function expectationOf(language: string): Expectation {
  const tag = language.toLowerCase().replaceAll('_', '-')
  const matches = (one: string) => tag === one || tag.startsWith(`${one}-`)
  return EXPECTATIONS.find(({ languages }) => languages.some(matches)) ?? WESTERN
}

/** Share of characters beyond ASCII in odd places; 1 if that cannot be chance. */
function oddnessOf(text: string, { foreign }: Expectation): number {
  const all = text.match(/[^\0-\x7f]/gu)?.length ?? 0
  const odd = text.match(ODD)?.length ?? 0
  const alien = (text.match(BOXES)?.length ?? 0) + (foreign === undefined ? 0 : (text.match(foreign)?.length ?? 0))
  const isTooMuch = (count: number, most: number) => count >= ODD_AT_LEAST && count > all * most
  if (isTooMuch(odd, MAX_ODD) || isTooMuch(alien, MAX_FOREIGN)) return 1
  return (odd + alien) / Math.max(1, all)
}

/** True without characters that only a wrong encoding gives: controls of Latin-1, unassigned and private characters. */
function isText(text: string): boolean {
  const odd = text.match(/[\u0080-\u009f\ufffd\p{Co}\p{Cn}]/gu)?.length ?? 0
  const all = text.match(/[^\0-\x7f]/gu)?.length ?? 0
  return odd <= Math.min(all / 3, Math.max(DAMAGED_AT_LEAST, all * MAX_DAMAGED))
}

function isWrittenIn(text: string, script: RegExp): boolean {
  // Marks, punctuation and fractions occur in many encodings.
  const signs = text.match(/[^\0-\x7f\p{P}\p{M}\p{No}\u00a0\ufffd]/gu) ?? []
  const own = signs.filter((sign) => script.test(sign)).length
  const plain = text.match(/[a-z]/gi)?.length ?? 0
  if (script === LATIN && own + plain >= FEW_LETTERS && own > (own + plain) * MAX_MARKED) return false
  return own >= signs.length * LEAST_OF_SCRIPT
}

/** Undefined unless the text is UTF-16. */
function utf16Of(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes
  if (first === 0xff && second === 0xfe) return withoutZeros(decode(bytes, 'utf-16le'))
  if (first === 0xfe && second === 0xff) return withoutZeros(decode(bytes, 'utf-16be'))
  const nul = bytes.indexOf(0)
  if (nul === -1) return undefined
  // The digits, spaces and line ends of subtitles have all their zeros on the same side.
  const sides = [0, 0]
  for (let at = nul; at < Math.min(bytes.length, SAMPLE_BYTES); at += 1) {
    if (bytes[at] === 0) sides[at % 2] = (sides[at % 2] ?? 0) + 1
  }
  const [even = 0, odd = 0] = sides
  const text = Math.min(even, odd) * 10 > Math.max(even, odd) ? '' : decode(bytes, odd > even ? 'utf-16le' : 'utf-16be')
  if (!/^WEBVTT|-->/.test(text)) throw notText()
  return withoutZeros(text)
}

/** UTF-32 looks like UTF-16 with zeros in between. */
function withoutZeros(text: string): string {
  if (text.slice(0, SAMPLE_BYTES).includes('\0')) throw notText()
  return text
}

/** A seven-bit Japanese encoding, which would pass for UTF-8. */
function iso2022Of(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (!text.includes('\u001b$')) return undefined
  // The Korean one of the same family.
  if (text.includes('\u001b$)')) throw unknownEncoding()
  return decode(bytes, 'iso-2022-jp')
}

/** Undefined unless most of what is not ASCII is UTF-8. */
async function utf8Of(bytes: Uint8Array): Promise<string | undefined> {
  const whole = decode(bytes, 'utf-8')
  const [good, bad] = await runInSlices(countBeyondAscii(whole))
  return bad === 0 || good >= bad ? whole : undefined
}

function* countBeyondAscii(text: string): Generator<void, [good: number, bad: number]> {
  let [good, bad] = [0, 0]
  for (let at = 0; at < text.length; at += 1) {
    if (at % TURN === 0) yield
    const code = text.charCodeAt(at)
    if (code === 0xfffd) bad += 1
    else if (code > 0x7f) good += 1
  }
  return [good, bad]
}

/** Lines with non-ASCII characters, since ASCII is common to all encodings. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  const lines: Uint8Array[] = []
  let size = 0
  for (let at = 0; at < bytes.length && size < SAMPLE_BYTES; ) {
    const feed = bytes.indexOf(0x0a, at)
    const end = feed === -1 ? bytes.length : feed + 1
    const line = bytes.subarray(at, Math.min(end, at + SAMPLE_BYTES))
    if (line.some((byte) => byte > 0x7f)) {
      lines.push(line)
      size += line.length
    }
    at = end
  }
  return Buffer.concat(lines)
}

const oneAtATime = pLimit(1)
const DETECTION_MS = 20_000
const DETECTION_MIB = 256

function detect(task: DetectionTask): Promise<Guess[]> {
  const worker = new Worker(new URL('./detect-encoding.ts', import.meta.url), {
    workerData: task,
    env: compileCacheEnv(),
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: DETECTION_MIB },
  })
  return new Promise<Guess[]>((resolve, reject) => {
    const timer = setTimeout(() => void worker.terminate(), DETECTION_MS)
    worker.once('message', resolve).once('error', reject)
    worker.once('exit', () => {
      clearTimeout(timer)
      reject(new MediaError('time-out', 'The encoding of the file was not found out in time.'))
    })
  })
}

/** The name in the Encoding Standard. */
function nameOf(guess: string): string | undefined {
  try {
    const name = guess.toLowerCase()
    return new TextDecoder(ALIASES[name] ?? name).encoding
  } catch {
    return undefined
  }
}

/** Without the byte order mark. */
const decode = (bytes: Uint8Array, encoding: string): string => new TextDecoder(encoding).decode(bytes)

const notText = (): MediaError => new MediaError('not-media', 'The file is no text of subtitles.')

const unknownEncoding = (): MediaError => new MediaError('not-media', 'The encoding of the file cannot be recognised: it should be UTF-8.')
