// Requests with one invalid value each, generated from the schemas of a route and an otherwise valid request.

import type { z } from 'zod'
import { readBody } from '../../../src/http/plugins/body-types.ts'
import { type Fields, foldFields, parseQuery } from '../../../src/http/plugins/form-fields.ts'
import { unstorableIssues } from '../../../src/http/plugins/unstorable.ts'
import { type FormValue, formValues, jsonValues, LONG_AND_HOSTILE, MEGABYTE, pathValues } from './bad-values.ts'
import type { Route } from './route-list.ts'
import type { RouteRequest } from './row.ts'
import { fieldPaths, isSchema } from './schema-fields.ts'

export interface Probe {
  /** Such as `PUT /api/v1/videos/:id: name of the JSON body = ""`. */
  title: string
  request: RouteRequest
  /** Location of the error, as in `invalid-params`. */
  location: 'params' | 'query' | 'body'
  /** The field that the response must name, or a field inside it. */
  fields: string[]
}

/** Invalid values that are sent without any others. */
const ALONE = 3

/** A part of a request in one encoding. */
interface Carrier<V> {
  name: string
  location: Probe['location']
  schema: z.ZodType
  values: readonly V[]
  /** Maximum number of characters of values in one request. */
  roomFor: number
  /** A valid request except for these fields. */
  request(changes: readonly Change<V>[]): RouteRequest
  /** How the server decodes that part. */
  received(changes: readonly Change<V>[]): unknown
}

export interface Probes {
  /** Some of the invalid values of each field, each alone. */
  single: Probe[]
  /** All of the invalid values, with those of other fields. */
  several: Probe[]
  /** A text of a megabyte in one field. */
  huge: Probe[]
  /** Unknown fields in a valid request. */
  unknown: Pick<Probe, 'request'>[]
}

/**
 * The probes of a route whose `request` is valid. A field with the same rules as one of the same name in another route, which is in
 * `seen`, is tested with a few values only.
 */
export function probesOf(route: Route, request: RouteRequest, seen: Set<string>): Probes {
  const probes: Probes = { single: [], several: [], huge: [], unknown: [] }
  for (const carrier of carriersOf(route, request)) addProbes(probes, route, carrier, seen)
  const { schema, config } = route
  const asJson = config?.form?.json ?? schema?.body
  if (isSchema(asJson)) probes.single.push(...wholeBodies(route, request, asJson))
  return probes
}

/** Bodies that are not objects, or missing. */
function wholeBodies(route: Route, request: RouteRequest, schema: z.ZodType): Probe[] {
  const headers = { ...request.headers, 'content-type': 'application/json' }
  return [null, true, 5, 'a text', [], [[]]]
    .filter((body) => !readBody(schema, body ?? {}).success)
    .map((body) => {
      const sent = JSON.stringify(body)
      const title = `${route.name}, JSON body: ${sent}`
      return { title, location: 'body', fields: [], request: { ...request, headers, body: Buffer.from(sent) } }
    })
}

type Change<V> = readonly [path: string[], value: V]

function addProbes<V>(probes: Probes, route: Route, carrier: Carrier<V>, seen: Set<string>): void {
  const { name, location, schema, values } = carrier
  if (issuesOf(schema, carrier.received([]), location).length > 0) {
    throw new Error(`The row of ${route.name} has no request with a right ${name}.`)
  }
  // Generated when it is sent: all requests at once would take hundreds of megabytes.
  const probe = (changes: Change<V>[]): Probe => ({
    location,
    fields: changes.map(([path]) => path.join('.')),
    get title() {
      const shown = changes.map(([path, value]) => `${path.join('.')} = ${JSON.stringify(value).slice(0, 40)}`)
      return `${route.name}, ${name}: ${shown.join(', ').slice(0, 400)}`
    },
    get request() {
      return carrier.request(changes)
    },
  })
  const reasonsOf = (path: string[], value: V): string[] =>
    issuesOf(schema, carrier.received([[path, value]]), location).flatMap((issue) =>
      isAt(path, issue.path) || path.length === 1 ? [issue.message] : [],
    )
  const isBad = (path: string[], value: V): boolean => reasonsOf(path, value).length > 0
  const known = new Set<string[]>()
  const badOf = (path: string[]): Change<V>[] => {
    const reasons = values.map((value) => reasonsOf(path, value))
    const refused = values.flatMap((value, index): Change<V>[] => (reasons[index]?.length ? [[path, value]] : []))
    const key = JSON.stringify([name, path, reasons])
    if (seen.has(key)) {
      known.add(path)
      return refused.slice(0, ALONE)
    }
    seen.add(key)
    return refused
  }

  const paths = fieldPaths(schema)
  const bad = paths.map(badOf)
  probes.single.push(...bad.flatMap((changes) => changes.slice(0, ALONE).map((change) => probe([change]))))
  // A field and its members cannot both be replaced, so each request replaces fields of one depth.
  const depths = [...new Set(paths.map((path) => path.length))]
  for (let round = 0; bad.some((changes) => changes.length > round); round++) {
    const changes = bad.flatMap((ofField) => ofField.slice(round, round + 1))
    const groups = depths.map((depth) => changes.filter(([path]) => path.length === depth))
    const batches = groups.flatMap((group) => packed(group, carrier.roomFor))
    probes.several.push(...batches.filter((batch) => batch.length > 1 || round >= ALONE).map(probe))
  }
  if (location === 'params') return
  const fresh = paths.filter((path) => !known.has(path))
  const long = fresh.map((path): Change<V> => [path, LONG_AND_HOSTILE as V])
  if (name !== 'query') probes.huge.push(...long.filter((change) => isBad(...change)).map((change) => probe([change])))
  const huge = (name === 'form' ? fresh : paths).map((path): Change<V> => [path, MEGABYTE as V])
  // Exceeds the size limit of a query or JSON body in any field; a form has room for it.
  const refused = name === 'form' ? huge.filter((change) => isBad(...change)) : huge.slice(0, 1)
  probes.huge.push(...refused.map((change) => probe([change])))
  const unknown: Change<V>[] = [[['aFieldThatNobodyKnows'], 'x' as V], ...values.slice(-1).map(unknownField)]
  probes.unknown.push({ request: carrier.request(unknown) })
}

const unknownField = <V>(value: V): Change<V> => [['another'], value]

/** Errors of the schema for a value, and characters that cannot be stored. */
function issuesOf(schema: z.ZodType, received: unknown, location: Probe['location']): z.core.$ZodIssue[] {
  const result = location === 'body' ? readBody(schema, received) : schema.safeParse(received)
  return result.success ? unstorableIssues(result.data) : result.error.issues
}

/** Whether a path is equal to or below a field. */
const isAt = (field: string[], path: PropertyKey[]): boolean => field.every((step, index) => path[index] === step)

/** Splits the values into as few lists as fit the limit, in characters. */
function packed<V>(changes: Change<V>[], room: number): Change<V>[][] {
  const batches: Change<V>[][] = []
  let left = 0
  for (const change of changes) {
    const size = JSON.stringify(change).length
    const open = batches.at(-1)
    if (open && size <= left) open.push(change)
    else {
      batches.push([change])
      left = room
    }
    left -= size
  }
  return batches
}

// biome-ignore lint/suspicious/noExplicitAny: carriers of different values in one list
function carriersOf(route: Route, request: RouteRequest): Carrier<any>[] {
  const { params, querystring, body } = route.schema ?? {}
  const { fields, json, files = [] } = route.config?.form ?? {}
  const asJson = json ?? body
  return [
    ...(isSchema(params) ? [inPath(params, request)] : []),
    ...(isSchema(querystring) ? [inQuery(querystring, request)] : []),
    ...(isSchema(asJson) ? [inJson(asJson, request)] : []),
    ...(fields && files.length > 0 ? [inForm(fields, request)] : []),
  ]
}

function inPath(schema: z.ZodType, request: RouteRequest): Carrier<string> {
  const put = (changes: readonly Change<string>[]) => ({
    ...request.params,
    ...Object.fromEntries(changes.map(([path, value]) => [path.join('.'), value.toWellFormed()])),
  })
  return {
    name: 'path',
    location: 'params',
    schema,
    values: pathValues,
    roomFor: 1000,
    request: (changes) => ({ ...request, params: put(changes) }),
    received: (changes) => textsOf(put(changes)),
  }
}

function inQuery(schema: z.ZodType, request: RouteRequest): Carrier<FormValue> {
  const put = (changes: readonly Change<FormValue>[]) => new URLSearchParams(entriesWith(Object.entries(request.query ?? {}), changes))
  return {
    name: 'query',
    location: 'query',
    schema,
    values: formValues,
    roomFor: 4000,
    request: (changes) => ({ ...request, query: put(changes) }),
    received: (changes) => parseQuery(put(changes).toString()),
  }
}

function inForm(schema: z.ZodType, request: RouteRequest): Carrier<FormValue> {
  const base = request.body instanceof FormData ? [...request.body] : entriesOf(request.body ?? {})
  const texts = base.filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const files = base.filter(([, value]) => typeof value !== 'string')
  return {
    name: 'form',
    location: 'body',
    schema,
    values: formValues,
    roomFor: 2500,
    request(changes) {
      const body = new FormData()
      for (const [name, value] of [...entriesWith(texts, changes), ...files]) body.append(name, value)
      return { ...request, body }
    },
    received: (changes) => foldFields(entriesWith(texts, changes)),
  }
}

function inJson(schema: z.ZodType, request: RouteRequest): Carrier<unknown> {
  const sent = asReceived({ ...request.body })
  return {
    name: 'JSON body',
    location: 'body',
    schema,
    values: jsonValues,
    roomFor: 200_000,
    request: (changes) => ({ ...request, body: withChanges({ ...request.body }, changes) }),
    received: (changes) =>
      withChanges(
        sent,
        changes.map(([path, value]): Change<unknown> => [path, asReceived(value)]),
      ),
  }
}

const asReceived = <T>(value: T): T => JSON.parse(JSON.stringify(value))

/** A copy of the object along the path of the field. */
function withChanges(body: object, changes: readonly Change<unknown>[]): Record<string, unknown> {
  const changed: Record<string, unknown> = { ...body }
  for (const [path, value] of changes) setAt(changed, path, value)
  return changed
}

function setAt(object: Record<string, unknown>, [name = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) object[name] = value
  else {
    const inner = { ...(object[name] as Record<string, unknown> | undefined) }
    object[name] = inner
    setAt(inner, rest, value)
  }
}

/** Form entries with some fields replaced; lists and objects use brackets. */
function entriesWith(base: readonly (readonly [string, string])[], changes: readonly Change<FormValue>[]): [string, string][] {
  const names = changes.map(([path]) => nameOf(path))
  const kept = base.filter(([name]) => !names.some((changed) => name === changed || name.startsWith(`${changed}[`)))
  const changed = changes.flatMap(([path, value]): [string, string][] => {
    const name = nameOf(path)
    if (typeof value === 'string') return [[name, value]]
    if (isList(value)) return value.map((item) => [`${name}[]`, item])
    return Object.entries(value).map(([key, item]) => [`${name}[${key}]`, item])
  })
  return [...kept.map(([name, value]): [string, string] => [name, value]), ...changed].map(([name, value]) => [name, value.toWellFormed()])
}

const isList = (value: FormValue): value is readonly string[] => Array.isArray(value)

const nameOf = ([first = '', ...rest]: string[]): string => first + rest.map((step) => `[${step}]`).join('')

/** A JSON body as form fields. */
const entriesOf = (body: object): [string, string][] =>
  Object.entries(body).flatMap(([name, value]: [string, unknown]): [string, string][] =>
    Array.isArray(value) ? value.map((item) => [`${name}[]`, String(item)]) : [[name, String(value)]],
  )

const textsOf = (fields: object): Fields => Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))
