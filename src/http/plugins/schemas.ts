// Common zod schemas of routes: paging, identifiers, and values in query strings and forms.

import { z } from 'zod'
import type { Config } from '../../config/index.ts'
import { fromShortUuid, isUuid, LARGEST_ID } from '../../platform/ids.ts'
import { isReadable } from '../../platform/readable.ts'

/** A row id in a path or query. */
export const idText = z
  .string()
  .refine((text) => /^\d{1,10}$/.test(text) && Number(text) <= LARGEST_ID, 'Should have a valid id')
  .transform(Number)

/** A text with visible characters. */
export const readable = (text: z.ZodString, message = 'Should have a text that can be read') => text.refine(isReadable, message)

/** The address of a file or page of another site. It is stored, and shown to the staff with the jobs, so it must not contain secrets. */
export function isOpenWebAddress(text: string): boolean {
  const { protocol = '', username, password, hostname } = URL.parse(text) ?? {}
  return /^https?:$/.test(protocol) && hostname !== '' && username === '' && password === '' && !/\s/.test(text)
}

/** A row id in a JSON body. */
export const idNumber = z.int().min(0).max(LARGEST_ID)

export type IdOrUuid = { id: number } | { uuid: string }

/** An identifier in a path: an id, a UUID or its short form. `noun` is for the message. */
export const idOrUuid = (noun: string) =>
  z.string().transform((text, context): IdOrUuid => {
    const found = readIdOrUuid(text)
    if (found) return found
    context.issues.push({
      code: 'custom',
      input: text,
      message: `Should have a valid ${noun} id (id, short UUID or UUID)`,
    })
    return z.NEVER
  })

/** The same in a JSON body, where an id is a number. */
export const idOrUuidInJson = (noun: string) =>
  z.union(
    [idNumber.min(1).transform((id): IdOrUuid => ({ id })), idOrUuid(noun)],
    `Should have a valid ${noun} id (id, short UUID or UUID)`,
  )

/** An integer in a query or form, within limits. Refusals echo the text as it was sent. */
export const integerText = (bounds: { min?: number; max?: number } = {}) => {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = bounds
  const fits = (text: string) => /^-?\d{1,16}$/.test(text) && Number(text) >= min && Number(text) <= max
  const wanted = bounds.max === undefined ? 'Should be an integer' : `Should be an integer (max: ${max})`
  return z.string().refine(fits, wanted).transform(Number)
}

/**
 * An integer in a query or form that is converted to a number before it is validated; anything else is null. Refusals echo the number, not
 * the text (unlike `integerText`).
 */
export const coercedInteger = (bounds: { min?: number; max?: number } = {}) => {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER } = bounds
  return z.preprocess((sent) => (sent === undefined ? undefined : toInteger(sent)), z.int().min(min).max(max)).meta({ type: 'integer' })
}

/** One or more row ids in a query. */
export const someIds = (bounds: { max: number }) =>
  z.preprocess(
    (sent) => [sent ?? []].flat(),
    z
      .array(coercedInteger({ min: 1, max: LARGEST_ID }))
      .min(1)
      .max(bounds.max),
  )

/** `true` and `false` in queries and forms. */
export const booleanText = z
  .enum(['true', 'false', '1', '0'], 'Should be true or false')
  .transform((text) => text === 'true' || text === '1')

/** `true`, `false` or `both`, for `nsfw`. */
export const booleanOrBoth = z
  .enum(['true', 'false', 'both'], 'Should be true, false or both')
  .transform((text) => (text === 'both' ? text : text === 'true'))

/** One or more values in a query or form: `a=1`, `a=1&a=2`, `a[]=1`. */
export const oneOrMore = <T extends z.ZodType>(item: T, options: { max?: number } = {}) => {
  return z.preprocess((sent) => (sent === undefined || Array.isArray(sent) ? sent : [sent]), z.array(item).max(options.max ?? 100))
}

/** A time (ISO 8601); without a zone it is UTC. */
export const moment = z
  .union([z.iso.date(), z.iso.datetime({ offset: true, local: true })], 'Should have a date that conforms to ISO 8601')
  .transform((text) => new Date(/[zZ]$|[+-]\d\d:?\d\d$|^\d{4}-\d\d-\d\d$/.test(text) ? text : `${text}Z`))

export interface Sorting<F extends string> {
  by: F
  descending: boolean
}

/** `sort=name` or `sort=-name` over the sortable fields of a list. `byDefault` has the same format. */
export function sorting<const F extends string>(fields: readonly F[], byDefault: F | `-${F}`) {
  const byText = new Map(
    fields.flatMap((by): [string, Sorting<F>][] => [
      [by, { by, descending: false }],
      [`-${by}`, { by, descending: true }],
    ]),
  )
  const [first = byDefault, ...others] = byText.keys()
  return z
    .enum([first, ...others])
    .default(byDefault)
    .transform((text, context): Sorting<F> => {
      const found = byText.get(text)
      if (found) return found
      context.issues.push({ code: 'custom', input: text, message: `Cannot sort by ${text}` })
      return z.NEVER
    })
}

/** `start` and `count` of a list, with the configured page sizes; spread it into the query of a route. */
export function paging(config: Config) {
  const { default_count, max_count } = config.vireo.pagination
  const largest = integerText({ min: 0, max: max_count })
  return {
    start: integerText({ min: 0, max: LARGEST_ID }).default(0),
    count: largest.default(default_count),
  }
}

/** The response of a list. `total` is missing if the client skipped the count. */
export const listOf = <T extends z.ZodType>(item: T) => z.object({ total: z.int().min(0).optional(), data: z.array(item) })

function toInteger(sent: unknown): number | null {
  if (typeof sent === 'number') return sent
  return typeof sent === 'string' && /^-?\d{1,15}$/.test(sent) ? Number(sent) : null
}

export function readIdOrUuid(text: string): IdOrUuid | undefined {
  if (/^\d{1,10}$/.test(text)) {
    const id = Number(text)
    return id <= LARGEST_ID ? { id } : undefined
  }
  if (isUuid(text)) return { uuid: text.toLowerCase() }
  const uuid = fromShortUuid(text)
  return uuid === undefined ? undefined : { uuid }
}
