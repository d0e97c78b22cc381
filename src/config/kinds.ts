// The kinds of values of configuration keys, and the section that groups keys. Each kind is a zod schema that accepts the notation of YAML
// and the environment, and carries its description for checks and documentation.

import { z } from 'zod'
import { parseDuration, parseSize } from './units.ts'

export interface KeyInfo {
  /** One phrase for the documentation. */
  doc: string
  /** The expected value, to complete the sentence 'expected …'. */
  expects: string
  /** The default in the notation of the files. */
  default: unknown
  /** True if administrators can change it at runtime. */
  editable: boolean
  /** Never shown in a message. */
  secret: boolean
  /** True if null is a valid value; otherwise null means 'the default'. */
  nullable: boolean
  /** Taken literally from the environment, since '#1' or '0123' are texts and not YAML. */
  text: boolean
}

export interface KeyOptions {
  editable?: boolean
  secret?: boolean
}

/** Shorthand for keys that administrators can change at runtime. */
export const EDITABLE: KeyOptions = { editable: true }
/** Shorthand for keys whose value never appears in a message. */
export const SECRET: KeyOptions = { secret: true }

/** The description of each key; read with `keyInfo`. */
const registry = z.registry<KeyInfo>()

export function keyInfo(schema: z.core.$ZodType): KeyInfo | undefined {
  return registry.get(schema)
}

/** Nested keys; a missing section has all its defaults. */
export function section<Shape extends z.core.$ZodShape>(shape: Shape) {
  return z.object(shape).prefault(() => ({}) as never)
}

export function flag(initial: boolean, doc: string, options?: KeyOptions) {
  const read = (value: unknown) => (value === 'true' ? true : value === 'false' ? false : value)
  return key(z.preprocess(read, z.boolean()), 'true or false', initial, doc, options)
}

interface Bounds {
  min?: number
  max?: number
}

export function integer(initial: number, doc: string, options: KeyOptions & Bounds = {}) {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = options
  return key(z.preprocess(readNumber, z.int().min(min).max(max)), `a whole number ${boundsText(min, max)}`, initial, doc, options)
}

/** A whole number, or null for 'not set'. */
export function optionalInteger(initial: number | null, doc: string, options: KeyOptions & Bounds = {}) {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = options
  const schema = z.preprocess(readNumber, z.int().min(min).max(max).nullable())
  return key(schema, `a whole number ${boundsText(min, max)}, or null`, initial, doc, { ...options, nullable: true })
}

export function port(initial: number, doc: string, options?: KeyOptions) {
  return integer(initial, doc, { max: 65_535, ...options })
}

export function text(initial: string, doc: string, options?: KeyOptions) {
  return key(z.preprocess(readText, z.string()), 'a text', initial, doc, { ...options, text: true })
}

/** A text or null; an empty text is null too. */
export function optionalText(initial: string | null, doc: string, options?: KeyOptions) {
  const read = (value: unknown) => (value === '' ? null : readText(value))
  return key(z.preprocess(read, z.string().nullable()), 'a text or null', initial, doc, {
    ...options,
    text: true,
    nullable: true,
  })
}

/** One of a few words; `aliases` are other spellings of them. */
export function choice<const Word extends string>(
  initial: NoInfer<Word>,
  words: readonly Word[],
  doc: string,
  options: KeyOptions & { aliases?: Record<string, NoInfer<Word>> } = {},
) {
  const aliases = new Map(Object.entries(options.aliases ?? {}))
  const read = (value: unknown) => (typeof value === 'string' ? (aliases.get(value) ?? value) : value)
  return key(z.preprocess(read, z.enum(words)), `one of ${words.join(', ')}`, initial, doc, options)
}

const DURATION = "a duration such as '10 seconds', '2 weeks' or a number of milliseconds"
const SIZE = "a size such as '100MB', '10GB' or a number of bytes"

/** Milliseconds. */
export function duration(initial: string, doc: string, options?: KeyOptions) {
  return key(quantity(parseDuration), DURATION, initial, doc, options)
}

/** Milliseconds, or null. */
export function optionalDuration(initial: string | null, doc: string, options?: KeyOptions) {
  return key(quantity(parseDuration).nullable(), `${DURATION}, or null`, initial, doc, { ...options, nullable: true })
}

/** Milliseconds, or -1 for 'no limit'. */
export function limitedDuration(initial: string | -1, doc: string, options?: KeyOptions) {
  return key(quantity(orUnlimited(parseDuration)), `${DURATION}, or -1 for no limit`, initial, doc, options)
}

/** Bytes. */
export function size(initial: string, doc: string, options?: KeyOptions) {
  return key(quantity(parseSize), SIZE, initial, doc, options)
}

/** Bytes, or null. */
export function optionalSize(initial: string | null, doc: string, options?: KeyOptions) {
  return key(quantity(parseSize).nullable(), `${SIZE}, or null`, initial, doc, { ...options, nullable: true })
}

/** Bytes, or -1 for 'no limit'. */
export function limitedSize(initial: string | -1, doc: string, options?: KeyOptions) {
  return key(quantity(orUnlimited(parseSize)), `${SIZE}, or -1 for no limit`, initial, doc, options)
}

/** Texts; a single text is a list of one. */
export function texts(initial: string[], doc: string, options?: KeyOptions) {
  return key(z.preprocess(readList(readText), z.array(z.string())), 'a list of texts', initial, doc, options)
}

/** Whole numbers; a single number is a list of one. */
export function integers(initial: number[], doc: string, options?: KeyOptions) {
  const schema = z.preprocess(readList(readNumber), z.array(z.int()))
  return key(schema, 'a list of whole numbers', initial, doc, options)
}

/** A list of small objects, with a schema of their own. */
export function records<Output>(item: z.ZodType<Output, unknown>, expects: string, initial: unknown[], doc: string, options?: KeyOptions) {
  const schema: z.ZodType<Output[], unknown> = z.preprocess((value) => value, z.array(item))
  return key(schema, expects, initial, doc, options)
}

/** Values inside the objects of `records`. */
export const inside = {
  duration: quantity(parseDuration),
  size: quantity(parseSize),
  integer: z.preprocess(readNumber, z.int().min(0)),
}

function key<Output>(
  schema: z.ZodType<Output, unknown>,
  expects: string,
  initial: unknown,
  doc: string,
  options: KeyOptions & { nullable?: boolean; text?: boolean } = {},
) {
  const { editable = false, secret = false, nullable = false, text = false } = options
  return schema.prefault(() => initial).register(registry, { doc, expects, default: initial, editable, secret, nullable, text })
}

function quantity(parse: (value: unknown) => number | null): z.ZodType<number, unknown> {
  return z.unknown().transform((value, context) => {
    const parsed = parse(value)
    if (parsed !== null) return parsed
    context.addIssue({ code: 'custom', message: 'not a quantity' })
    return z.NEVER
  })
}

function orUnlimited(parse: (value: unknown) => number | null) {
  return (value: unknown) => (value === -1 || value === '-1' ? -1 : parse(value))
}

function readNumber(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value
}

function readText(value: unknown): unknown {
  return typeof value === 'number' ? String(value) : value
}

function readList(readItem: (value: unknown) => unknown) {
  return (value: unknown) => {
    const list = typeof value === 'string' || typeof value === 'number' ? [value] : value
    return Array.isArray(list) ? list.map(readItem) : list
  }
}

function boundsText(min: number, max: number): string {
  return max === Number.MAX_SAFE_INTEGER ? `from ${min} on` : `from ${min} to ${max}`
}
