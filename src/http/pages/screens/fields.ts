// Fields of forms from the schema of an API operation: its types, limits and choices, with the labels of the page.

import { createHash } from 'node:crypto'
import type { RouteOptions } from 'fastify'
import { z } from 'zod'
import { Html, html } from '../../../platform/html.ts'
import { english, known, Localized, t, type Word, wordIn } from '../../../platform/language.ts'
import { valueAt } from './api.ts'

export type Choices = Readonly<Record<string, Word>>

/** How a field is shown; a text alone is its label. */
export interface FieldWords {
  label: Localized | Html
  help?: Localized | Html
  /** `lines` and `list`: an array, one item in a line or separated by commas. `moment`: a time in UTC. */
  as?: 'long' | 'password' | 'check' | 'list' | 'lines' | 'moment' | 'file' | 'hidden' | 'many'
  choices?: Choices
  /** The choices are in the order of their names in the reader's language. */
  byName?: boolean
  accept?: string
  /** In place of what the operation says. */
  required?: boolean
  /** The same: true if the API takes null for nothing. */
  nullable?: boolean
  also?: Html
  group?: Localized
  locked?: Localized | undefined
  isRare?: boolean
  /** Works with the script only. */
  isScripted?: boolean
  /** The choice of nothing; without it, required fields begin with their first choice. */
  none?: Localized
}

export type Words = Readonly<Record<string, FieldWords | Localized>>

export interface Field extends FieldWords, Limits {
  name: string
}

/** Of a JSON schema. */
type Limits = Pick<z.core.JSONSchema.BaseSchema, 'type' | 'minimum' | 'maximum' | 'minLength' | 'maxLength'>

type Json = { [name: string]: unknown }

/** Limits above are for machines: an area of text instead of a line. */
const LONG_TEXT = 1001

/** The fields named by `words`, in their order, with what the operation's schema says about each. Those `inPath` are required. */
export function fieldsOf(operation: RouteOptions, words: Words, inPath: readonly string[] = []): Field[] {
  const body = schemaOf(operation)
  const [input, output] = body ? [jsonSchema(body, 'input'), jsonSchema(body, 'output')] : [{}, {}]
  return Object.entries(words).map(([name, word]) => {
    const known = { ...described(output, name), ...described(input, name) }
    const own = word instanceof Localized ? { label: word } : word
    const choices = own.choices ?? choicesOf(known)
    return {
      ...(known as Limits),
      name,
      required: isRequired(input, name) || inPath.includes(name),
      nullable: known.nullable === true,
      ...own,
      ...(choices ? { choices } : {}),
    }
  })
}

/** The schema of an operation's body, or of the texts of its form. */
export function schemaOf({ config, schema }: Pick<RouteOptions, 'config' | 'schema'>): z.ZodType | undefined {
  const body = config?.form ? (config.form.json ?? config.form.fields) : schema?.body
  return body instanceof z.ZodType ? body : undefined
}

const cache = new WeakMap<z.ZodType, Record<'input' | 'output', Json>>()

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  let both = cache.get(schema)
  if (!both) {
    const made = (io: 'input' | 'output') => inlined(z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }) as Json)
    both = { input: made('input'), output: made('output') }
    cache.set(schema, both)
  }
  return both[io]
}

/** A schema with an id is made as a reference to its definition. */
const inlined = ({ $ref, $defs, ...schema }: Json): Json =>
  typeof $ref === 'string' ? (valueAt($defs, $ref.split('/').at(-1) ?? '') as Json) : schema

const described = (schema: Json, name: string): Json =>
  name.split('.').reduce((at, step) => flat((at.properties as Record<string, Json> | undefined)?.[step] ?? {}), flat(schema))

/** A schema without its null; of several, the first one, if they have one type. */
function flat(schema: Json): Json {
  if (!Array.isArray(schema.anyOf)) return schema
  const [first, ...others] = (schema.anyOf as Json[]).filter(({ type }) => type !== 'null')
  const nullable = (schema.anyOf as Json[]).some(({ type }) => type === 'null')
  const constants = [first, ...others].map((one) => one?.const)
  if (constants.every((value) => value !== undefined)) return { enum: constants, nullable }
  // Such as a number or a UUID: a line of text takes both.
  if (others.some(({ type }) => type !== first?.type)) return { type: 'string', nullable }
  return { ...first, nullable }
}

function isRequired(schema: Json, name: string): boolean {
  const [step = '', ...rest] = name.split('.')
  const isHere = Array.isArray(schema.required) && schema.required.includes(step)
  return isHere && (rest.length === 0 || isRequired(described(schema, step), rest.join('.')))
}

function choicesOf({ enum: values }: Json): Choices | undefined {
  if (!Array.isArray(values)) return undefined
  return Object.fromEntries(values.map((value) => [String(value), known(wordsOf(String(value)))]))
}

/** `blockedUntil` → `Blocked until`; `isNSFW` → `Is NSFW`. */
export function wordsOf(name: string): string {
  const words = name
    .replaceAll(/[._-]/g, ' ')
    .replaceAll(/(?<=[a-z\d])[A-Z](?![A-Z])|(?<=[A-Z])[A-Z](?=[a-z])/g, (begin) => ` ${begin.toLowerCase()}`)
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What is shown in a form: texts by name. */
export type Typed = ReadonlyMap<string, readonly string[]>

/** Values of the API as the texts of a form. */
export function shownValues(fields: readonly Field[], from: unknown): Typed {
  return new Map(
    fields.map((field) => {
      const value = valueAt(from, field.name)
      const raw = typeof value === 'object' && value !== null && !Array.isArray(value) && 'id' in value ? value.id : value
      return [field.name, textsOf(field, raw)]
    }),
  )
}

function textsOf({ as }: Field, value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return as === 'many' ? value.map(String) : [value.join(as === 'lines' ? '\n' : ', ')]
  return [as === 'moment' ? new Date(String(value)).toISOString().slice(0, 16) : String(value)]
}

/** The hidden field of a form with digests of what its fields showed. */
export const SHOWN = 'shown'

export const digestsOf = (fields: readonly Field[], typed: Typed): string =>
  fields.map((field) => `${field.name}=${digestOf(field, typed.get(field.name) ?? [])}`).join(' ')

function digestOf({ as, type }: Field, texts: readonly string[]): string {
  // Browsers leave out unchecked boxes.
  const value = as === 'check' || type === 'boolean' ? String(texts[0] === 'true') : texts.join('\n').replaceAll('\r\n', '\n')
  return createHash('sha256').update(value).digest('base64url').slice(0, 8)
}

/**
 * The body of the API for a sent form: empty fields are null or left out, lists are split, dots nest. Of a form with digests, only what
 * somebody changed, also to nothing: others may have changed the rest meanwhile.
 */
export function bodyOf(fields: readonly Field[], sent: Typed): Json {
  const shown = new Set(sent.get(SHOWN)?.[0]?.split(' '))
  const body: Json = {}
  for (const field of fields) {
    if (field.locked || field.as === 'file') continue
    const texts = sent.get(field.name) ?? []
    // Browsers leave out unchecked boxes; other fields that are missing were not in the form.
    if (!sent.has(field.name) && field.as !== 'check' && field.as !== 'many' && field.type !== 'boolean' && !field.required) continue
    if (shown.has(`${field.name}=${digestOf(field, texts)}`)) continue
    const value = inBody({ ...field, required: field.required || (shown.size > 0 && !field.nullable) }, texts)
    if (value === undefined) continue
    const steps = field.name.split('.')
    const last = steps.pop() ?? ''
    const parent = steps.reduce<Json>((at, step) => {
      at[step] ??= {}
      return at[step] as Json
    }, body)
    parent[last] = value
  }
  return body
}

function inBody({ as, type, nullable, required }: Field, texts: readonly string[]): unknown {
  const text = (texts[0] ?? '').replaceAll('\r\n', '\n')
  if (as === 'check' || type === 'boolean') return text === 'true'
  if (as === 'many') return [...texts]
  if (as === 'lines' || as === 'list' || type === 'array') return itemsIn(text, as === 'lines' ? '\n' : ',')
  if (text === '') return required ? '' : nullable ? null : undefined
  return as === 'moment' ? momentIn(text) : text
}

export const itemsIn = (text: string, separator: string): string[] => text.split(separator).flatMap((item) => item.trim() || [])

/** A body as the fields of a form: lists repeat a name, and objects have brackets. */
export function formEntries(body: object, within = ''): [string, string][] {
  return Object.entries(body).flatMap(([own, value]): [string, string][] => {
    const name = within ? `${within}[${own}]` : own
    if (Array.isArray(value)) return value.map((item) => [name, String(item)])
    return typeof value === 'object' && value ? formEntries(value, name) : [[name, String(value ?? '')]]
  })
}

/** Browsers leave out seconds that are 0, without which a time with a zone is no date of ISO 8601 to the API. */
export const momentIn = (text: string): string => `${text}${/T\d\d:\d\d$/.test(text) ? ':00' : ''}Z`

export interface ShownForm {
  /** Makes the ids of the page's forms differ. */
  key: string
  typed: Typed
  problems: ReadonlyMap<string, Localized>
}

/** A field with its label, help and problem. Passwords are never shown again. */
export function fieldHtml(field: Field, { key, typed, problems }: ShownForm): Html {
  const { name, label, help, as } = field
  const texts = typed.get(name) ?? []
  const id = `${key}-${name}`
  if (as === 'hidden') return html`<input type="hidden" id="${id}" name="${name}" value="${texts[0] ?? ''}">`
  const problem = problems.get(name)
  const note = problem ?? (help && field.locked ? html`${help} ${field.locked}` : (help ?? field.locked))
  const about = html`${note !== undefined && html` aria-describedby="${id}-note"`}${problem !== undefined && html` aria-invalid="true"`}${field.locked && html` disabled`}${field.also ?? (as === 'password' && html` autocomplete="off"`)}`
  const noteHtml = note !== undefined && html`<p class="${problem === undefined ? 'soft' : 'problem'}" id="${id}-note">${note}</p>`
  if (as === 'check' || (field.type === 'boolean' && !field.choices)) {
    return html`<p class="choice"><label><input id="${id}" type="checkbox" name="${name}" value="true"${texts[0] === 'true' && html` checked`}${about}> ${label}</label></p>${noteHtml}
`
  }
  return html`<label for="${id}">${label}${!field.required && texts.length === 0 && as !== 'file' && !field.choices && html` <span class="soft">${t('(may be left out)')}</span>`}</label>
${controlOf(field, { id, texts, about })}${noteHtml}
`
}

/** The fields of a form; rare ones are in an element that opens. */
export const fieldsHtml = (fields: readonly Field[], shown: ShownForm): Html[] =>
  fields.map((field, index) => {
    const { isRare, isScripted, group } = field
    const [before, after] = [fields[index - 1], fields[index + 1]]
    const isOpen = isRare && fields.some((one) => one.isRare && shown.problems.has(one.name))
    const isFirst = group && group.in(english) !== before?.group?.in(english)
    const one = html`${isFirst && html`<h2>${group}</h2>`}${fieldHtml(field, shown)}`
    return html`${isRare && !before?.isRare && html`<details${isOpen && html` open`}><summary>${t('More')}</summary><div>`}${
      isScripted ? html`<div hidden data-scripted>${one}</div>` : one
    }${isRare && !after?.isRare && html`</div></details>`}`
  })

/** The proof of a form, and its name on the screen. */
export const hiddenFields = ({ token }: { token: string }, part: string): Html =>
  html`<input type="hidden" name="token" value="${token}"><input type="hidden" name="part" value="${part}">`

/** Sent without the script, which would lose what was typed if another page has the answer. */
export const previewButton: Html = html` <button name="preview" value="true">${t('Preview')}</button>`

const sorted = (choices: Choices, optionOf: (choice: [string, string]) => Html): Html =>
  new Html([
    (language) => {
      const named = Object.entries(choices).map(([value, shown]): [string, string] => [value, String(wordIn(shown, language))])
      return html`${named.sort(([, a], [, b]) => language.compare(a, b)).map(optionOf)}`.in(language)
    },
  ])

function controlOf(field: Field, { id, texts, about }: { id: string; texts: readonly string[]; about: Html }): Html {
  const { name, as, choices, minimum, maximum, minLength = 0, maxLength, type, accept, none } = field
  const text = texts[0] ?? ''
  // A text with a least length, such as a title, can be replaced but not emptied.
  const required = field.required || (minLength > 0 && text !== '' && !field.nullable)
  const need = required && html` required`
  const length = html`${minLength > 0 && html` minlength="${minLength}"`}${maxLength !== undefined && html` maxlength="${maxLength}"`}`
  if (choices) {
    const optionOf = ([value, shown]: [string, Word]): Html =>
      html`<option value="${value}"${(texts.length > 0 ? texts : ['']).includes(value) && html` selected`}>${shown}</option>`
    const isForced = as === 'many' || (none === undefined && (required || (texts.length > 0 && !field.nullable)))
    return html`<select id="${id}" name="${name}"${as === 'many' && html` multiple size="6"`}${need}${about}>${
      !isForced && optionOf(['', none ?? '–'])
    }${field.byName ? sorted(choices, optionOf) : Object.entries(choices).map(optionOf)}</select>`
  }
  if (as === 'file') return html`<input id="${id}" type="file" name="${name}"${accept && html` accept="${accept}"`}${need}${about}>`
  if (as === 'password') return html`<input id="${id}" type="password" name="${name}"${length}${need}${about}>`
  if (as === 'moment') return html`<input id="${id}" type="datetime-local" name="${name}" value="${text}"${need}${about}>`
  if (as === 'long' || as === 'lines' || (maxLength ?? 0) >= LONG_TEXT) {
    return html`<textarea id="${id}" name="${name}" rows="${Math.min(20, Math.max(4, text.split('\n').length))}"${length}${need}${about}>
${text}</textarea>`
  }
  if (type === 'integer' || type === 'number') {
    const sane = (bound: number | undefined) => bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER
    return html`<input id="${id}" type="number" name="${name}" value="${text}"${sane(minimum) && html` min="${minimum}"`}${sane(maximum) && html` max="${maximum}"`}${need}${about}>`
  }
  return html`<input id="${id}" name="${name}" value="${text}"${type !== 'array' && length}${need}${about}>`
}
