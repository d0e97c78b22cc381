// Schemas for reading documents: tolerant if software differs, strict if it matters, always bounded.

import { z } from 'zod'
import { isReadable } from '../../platform/readable.ts'
import { AS_PUBLIC } from './context.ts'

/** Result of reading. An unusable document is no exception: it gets a normal response and is dropped. */
export type Read<T> = { ok: true; value: T } | { ok: false; problem: string }

/** Reads by a schema. */
export function readWith<T>(schema: z.ZodType<T>, document: unknown): Read<T> {
  const found = schema.safeParse(withTexts(document))
  if (found.success) return { ok: true, value: found.data }
  const [issue] = found.error.issues
  return { ok: false, problem: issue ? `${issue.path.join('.') || 'document'}: ${issue.message}` : 'unreadable' }
}

/** Texts that may be given by language only, as `contentMap`. */
const MAPPED = ['name', 'content', 'summary']

function withTexts(document: unknown): unknown {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return document
  const given = new Map<string, unknown>(Object.entries(document))
  const missing = MAPPED.filter((key) => given.has(`${key}Map`) && !hasText(given.get(key)))
  if (missing.length === 0) return document
  return { ...document, ...Object.fromEntries(missing.map((key) => [key, given.get(`${key}Map`)])) }
}

const hasText = (value: unknown): boolean => (typeof value === 'string' ? isReadable(value) : value != null)

/** Limits for documents; anything beyond is left out. */
export const BOUNDS = {
  url: 2000,
  shortText: 250,
  text: 10_000,
  html: 100_000,
  audience: 500,
  tags: 100,
  captions: 200,
  chapters: 500,
  links: 500,
  images: 20,
  attributions: 20,
  groups: 5,
  items: 500,
  keys: 10,
} as const

// Control characters are invalid in an address, and NUL in PostgreSQL.
const ADDRESS_CONTROL = /[\p{Cc}\p{Z}]/u
const TEXT_CONTROL = /(?![\n\r\t])\p{Cc}/gu

/** True for an http(s) address that can be stored and compared. */
export function isHttpUrl(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > BOUNDS.url || ADDRESS_CONTROL.test(value)) return false
  const url = URL.parse(value)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:') && url.username === ''
}

/** The id of a reference: the text itself, that of an embedded object or of a Link's target, or the first in a list. */
export function idOf(value: unknown): unknown {
  if (Array.isArray(value)) return idOf(value[0])
  if (typeof value !== 'object' || value === null) return value
  if ('id' in value) return value.id
  if ('@id' in value) return value['@id']
  return 'href' in value ? value.href : undefined
}

/** The address of a link: a text, a Link with href, an object with url, or the first of a list that has one. */
export function hrefOf(value: unknown): string | undefined {
  if (typeof value === 'string') return isHttpUrl(value) ? value : undefined
  if (Array.isArray(value)) {
    for (const one of value.slice(0, BOUNDS.links)) {
      const found = hrefOf(one)
      if (found !== undefined) return found
    }
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  return hrefOf('href' in value ? value.href : 'url' in value ? value.url : undefined)
}

export const asList = (value: unknown): unknown[] => (value === undefined || value === null ? [] : Array.isArray(value) ? value : [value])

export const httpUrl = z.custom<string>(isHttpUrl, 'not an http address')

/** A required reference. */
export const iri = z.preprocess(idOf, httpUrl)

/** An actor that a document is attributed to. `type` is null if the document has bare ids, as in newer versions. */
export interface Attribution {
  id: string
  type: string | null
}

/** A value whose absence or invalidity does not spoil the rest: null then. */
export const optional = <T>(schema: z.ZodType<T>) =>
  schema
    .nullish()
    .catch(null)
    .transform((value) => value ?? null)

export const optionalIri = optional(iri)

/** A scalar or a list. Elements that do not match the schema, and those beyond `max`, are left out. */
export const listOf = <T>(schema: z.ZodType<T>, max: number) =>
  z
    .unknown()
    .optional()
    .transform((value) => {
      const found: T[] = []
      for (const one of asList(value).slice(0, max)) {
        const read = schema.safeParse(one)
        if (read.success) found.push(read.data)
      }
      return found
    })

export const iris = (max: number) => listOf(iri, max)

/** `attributedTo`: ids, objects with an id and a type, or both. */
export const attributions = listOf<Attribution>(
  z.preprocess((value) => ({ id: idOf(value), type: typeOf(value) ?? null }), z.object({ id: httpUrl, type: z.string().nullable() })),
  BOUNDS.attributions,
)

/** `audience`: the groups that a document is published in (FEP-1b12). */
export const groups = iris(BOUNDS.groups)

const PUBLIC_NAMES = new Set(['as:Public', 'Public', AS_PUBLIC])

/** `to` and `cc`: addresses, with the three names of the public unified. */
export const audience = listOf(
  z.preprocess((value) => {
    const id = idOf(value)
    return typeof id === 'string' && PUBLIC_NAMES.has(id) ? AS_PUBLIC : id
  }, httpUrl),
  BOUNDS.audience,
)

export const isPublic = (document: { to: string[]; cc: string[] }): boolean =>
  document.to.includes(AS_PUBLIC) || document.cc.includes(AS_PUBLIC)

/** Text without control characters and unpaired surrogates, cut at `max` characters. */
function cleanText(value: string, max: number): string {
  const clean = value
    .slice(0, max * 2)
    .toWellFormed()
    .replace(TEXT_CONTROL, '')
  return clean.length <= max ? clean : [...clean].slice(0, max).join('')
}

const MAX_LANGUAGES = 100

/** The text of a value: itself, a JSON-LD value object, or the first non-empty text of a map by language. */
function textOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('@value' in value) return value['@value']
  if (Array.isArray(value)) return textOf(value[0])
  const texts = Object.values(value)
  return texts.slice(0, MAX_LANGUAGES).find((one) => typeof one === 'string' && isReadable(one)) ?? texts[0]
}

export const text = (max: number) =>
  z
    .preprocess(textOf, z.string())
    .transform((value) => cleanText(value, max))
    .refine(isReadable, 'nothing to read')
export const optionalText = (max: number) => optional(text(max))

/** Years that every clock and database supports: films are older than computers. */
const EARLIEST = new Date('1000-01-01T00:00:00Z')
const LATEST = new Date('9999-12-31T23:59:59Z')

export const date = z
  .preprocess((value) => textOf(value), z.string().max(50))
  .transform((value) => new Date(value))
  .refine((value) => value >= EARLIEST && value <= LATEST, 'not a date')
export const optionalDate = optional(date)

/** A count, as a number or in decimal digits. */
export const count = z.preprocess(
  (value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : textOf(value)),
  z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
)
export const optionalCount = optional(count)
/** The range of a column of four bytes, and more than any measured value. */
export const optionalNumber = optional(z.preprocess(textOf, z.number().min(-1e9).max(1e9)))
export const optionalBoolean = optional(z.preprocess(textOf, z.boolean()))

const DURATION = /^P(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?$/

/** An ISO 8601 duration in whole seconds. Years and months have no fixed length and are refused. */
export const seconds = z.preprocess(textOf, z.string().max(50)).transform((value, problems) => {
  const [, days, hours, minutes, rest] = DURATION.exec(value) ?? []
  if (days ?? hours ?? minutes ?? rest)
    return Math.round(Number(days ?? 0) * 86_400 + Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(rest ?? 0))
  problems.addIssue('not a duration')
  return z.NEVER
})

/** The duration format of the reference: seconds only. */
export const duration = (value: number): string => `PT${Math.max(0, Math.floor(value))}S`

const MAX_TYPES = 10

/** The types of a document. */
export const typesOf = (value: unknown): string[] =>
  typeof value !== 'object' || value === null || !('type' in value)
    ? []
    : asList(value.type)
        .slice(0, MAX_TYPES)
        .flatMap((one) => (typeof one === 'string' ? [one.slice(0, BOUNDS.shortText)] : []))

/** The first type of a document. */
export const typeOf = (value: unknown): string | undefined => typesOf(value)[0]

/** A document of one of these types. */
export const ofType = (...types: string[]) =>
  z.preprocess(
    (value) => asList(value).find((one) => typeof one === 'string' && types.includes(one)),
    z.enum(types as [string, ...string[]]),
  )
