// The schemas of all routes against the bounds of the contract: they refuse and accept the same values.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { z } from 'zod'
import { readBody } from '../../../src/http/plugins/body-types.ts'
import { type ContractField, examplesOf, operationOf, pathParameters } from './contract.ts'
import type { Route } from './route-list.ts'
import { fieldPaths, isSchema, unboundedLists } from './schema-fields.ts'
import { type RouteServer, startRouteServer } from './server.ts'

type Exceptions = readonly (readonly [about: RegExp, why: string])[]

/** Decided differences between a schema and the contract, with reasons. */
const DIFFERENT: Exceptions = [
  [/^PUT .*: currentPassword of the JSON body takes "x+"/, 'it is compared, and refused with 403 when it is wrong'],
  [/: instance.defaultClientRoute of the JSON body takes 5$/, 'a number is taken for a text, as observed'],
  [/: (redundancyId|listId) of the path refuses "x+"$/, 'it is a number, as observed'],
  [/: search.searchIndex.url of the JSON body refuses "x+"/, 'it has to be an address, as observed'],
  [/^GET \/api\/v1\/users: blocked of the query takes/, 'what does not say no is a yes, as observed'],
  [/^POST \/api\/v1\/users\/token: /, 'it refuses with the codes of OAuth, whatever the form'],
  [/^GET \/services\/oembed: format of the query takes "no such value"/, 'it is refused later, with 501'],
  [/: captionLanguage of the path refuses "x+"$/, 'it has to be a language that there is'],
  [/: include of the query takes "33"/, 'its values are flags'],
  [/: searchTarget of the query refuses "search-index"/, 'there is no index to ask, as observed'],
  [/subscriptions\/:uri: uri of the path refuses "x+"/, 'it is a handle, as observed'],
  [/notifications: unread of the query takes/, 'what is neither yes nor no is nothing, as observed'],
  [/: skipCount of the query takes/, 'whatever is said counts as yes, as observed'],
  [/: waitTranscoding of the (JSON body|form) (takes "?true|refuses "x+")/, 'it is described as a text, but is a boolean'],
  [
    /^POST .*(upload|videos\/imports|videos\/live).* of the form takes "(no such value|2)"/,
    'all but true is false in these forms, as observed',
  ],
  [/^POST .*(upload|videos\/imports|videos\/live).*: language of the .* takes ""/, 'an empty text says that there is none'],
  [/videos\/live.*: (saveReplay|permanentLive) of the JSON body takes/, 'all but true is false, as observed'],
  [/: reinjectVideoFileToken of the query takes/, 'what does not say yes is a no, as observed'],
  [/: (viewEvent|sessionId) of the JSON body takes/, 'what a player says wrongly is left aside, as observed'],
  [/exports\/request: withVideoFiles of the JSON body takes/, 'a text counts as yes, as observed'],
  [/^PUT .*passwords: passwords of the JSON body takes/, 'the command refuses them, and names no field, as observed'],
  [/^POST .*run-command: command of the JSON body takes/, 'the handler refuses it, and names no field, as observed'],
  [/^GET \/feeds.*: (accountId|videoChannelId|videoId) of the query refuses "x+"/, 'it is an id, as observed'],
  [/^PUT .*: language of the form takes ""/, 'an empty text says that there is none'],
  [/: npmName of the path refuses "x+"/, 'it is the name of a plugin, as observed'],
]

/** Fields of the contract without a schema, with reasons. */
const UNKNOWN: Exceptions = [
  [/: resource of the query$/, 'addresses of WebFinger are read by the federation layer'],
  [/^GET \/video-playlists.*: page of the query$/, 'pages of collections are read by the federation layer'],
  [/^DELETE \/api\/v1\/runners\/:runnerId: /, 'the runner is named by the path'],
]

/** Texts without a maximum, or with this one, with reasons. */
const LONG: Exceptions = [
  [/^PUT .*homepage\/instance: content$/, 'a page, within the bound of all bodies'],
  [/debug\/run-command: command$/, 'the handler compares it with those that there are'],
  [
    /^POST .*(upload|upload-resumable|imports|live): (nsfw|\w+Enabled|waitTranscoding|generateTranscription)$|(saveReplay|permanentLive|withVideoFiles|viewEvent|sessionId)$/,
    'read as false or nothing',
  ],
  [/^POST \/(videos|w)\/.*: password$/, 'a password that is too long is read as none'],
  [/studio\/edit: tasks.\[\].options/, 'those of tasks with a file are not read'],
]
const LONG_TEXT = 400_000

let stage: RouteServer

beforeAll(async () => {
  stage = await startRouteServer()
})
afterAll(async () => {
  await stage?.stop()
})

describe('the schemas of the routes', () => {
  it('know every field of the contract', () => {
    const isKnown = ({ schema, path }: Comparison) => fieldPaths(schema, { lists: true }).some((known) => known.join() === path.join())
    const known = new Set(
      comparisons()
        .filter(isKnown)
        .map(({ title }) => title),
    )
    const missing = contractFields()
      .flatMap(titlesOf)
      .filter((title) => !known.has(title))
    expect(missing.filter((title) => !isSaid(UNKNOWN, title))).toEqual([])
  })

  it('have a maximum for every list, which zod checks before it reads the items', () => {
    const unbounded = stage.routes.flatMap(({ name, schema = {}, config = {} }) => {
      const { fields, json } = config.form ?? {}
      const read = [schema.params, schema.querystring, schema.headers, schema.body, fields, json].filter(isSchema)
      return read.flatMap((part) => unboundedLists(part)).map((path) => `${name}: ${path}`)
    })
    expect(unbounded).toEqual([])
  })

  it('have a maximum length for every text', () => {
    const shapes = ['a', 'a.', '1', 'a@', 'a/', ' a'].map((piece) => piece.repeat(LONG_TEXT / piece.length))
    const values = [...shapes, ...shapes.flatMap((text) => [`name@${text}`, `https://${text}`, `https://example.com/${text}`])]
    const unbounded = stage.routes.flatMap(({ name, schema = {}, config = {} }) => {
      const { fields, json } = config.form ?? {}
      // The router limits path parameters, and Node limits headers with the query.
      const read = [schema.body, fields, json].filter(isSchema)
      return read.flatMap((part) =>
        fieldPaths(part, { lists: true })
          .filter((path) => values.some((value) => !isRefused({ schema: part, path, part: 'body' }, value)))
          .map((path) => `${name}: ${path.join('.')}`),
      )
    })
    expect(unbounded.filter((title) => !isSaid(LONG, title))).toEqual([])
  })

  it('accept texts for numbers and booleans in bodies, and no other texts', () => {
    const scalars = [true, false, -1, 0, 1, 2, 3, 10, 100, 1000, 5000, 1_000_000_000]
    const faults = stage.routes.flatMap(({ name, schema = {}, config = {} }) =>
      [schema.body, config.form?.json].filter(isSchema).flatMap((body) =>
        fieldPaths(body, { lists: true }).flatMap((path) => {
          const takes = (value: unknown) => !isRefused({ schema: body, path, part: 'body' }, value)
          const taken = scalars.filter(takes)
          const faulty = taken.filter((value) => !takes(String(value)) || takes(` ${value}`) !== takes('hello'))
          return faulty.map((value) => `${name}: ${path.join('.')}: ${value}`)
        }),
      ),
    )
    expect(faults).toEqual([])
  })

  it('refuse what the contract refuses', () => {
    expect(differences('takes', ({ refused }) => refused)).toEqual([])
  })

  it('accept what the contract accepts', () => {
    expect(differences('refuses', ({ taken }) => taken)).toEqual([])
  })

  it('differ only where it is listed', () => {
    const all = [...differences('takes', ({ refused }) => refused, []), ...differences('refuses', ({ taken }) => taken, [])]
    const idle = DIFFERENT.filter(([about]) => !all.some((difference) => about.test(difference)))
    expect(idle.map(([about]) => `${about} is not different any more; remove it`)).toEqual([])
  })
})

const isSaid = (exceptions: Exceptions, title: string): boolean => exceptions.some(([about]) => about.test(title))

/** Results of the schemas for examples, where they differ from the contract. */
function differences(
  verb: 'takes' | 'refuses',
  choose: (examples: ReturnType<typeof examplesOf>) => unknown[],
  allowed = DIFFERENT,
): string[] {
  return comparisons()
    .flatMap((one) => choose(examplesOf(one.field)).flatMap((value) => carried(one, value).map((sent) => ({ one, sent }))))
    .filter(({ one, sent }) => isRefused(one, sent) === (verb === 'refuses'))
    .map(({ one, sent }) => `${one.title} ${verb} ${JSON.stringify(sent).slice(0, 50)}`)
    .filter((difference) => !isSaid(allowed, difference))
}

interface Comparison {
  title: string
  part: string
  field: ContractField
  schema: z.ZodType
  path: string[]
  isText: boolean
}

/** Locations of a field of the contract, in the route of the operation. */
interface Place {
  route: Route
  field: ContractField
  /** The name of the parameter in the route. */
  name: string
}

function contractFields(): Place[] {
  return stage.routes.flatMap((route) => {
    const operation = operationOf(route)
    const [remote, local] = [pathParameters(operation?.path ?? ''), pathParameters(route.url)]
    const fields = operation?.fields.filter(({ in: part, type }) => part !== 'header' && type !== 'file') ?? []
    return fields.map((field) => {
      const renamed = field.in === 'path' ? local[remote.indexOf(field.name)] : undefined
      return { route, field, name: renamed ?? field.name }
    })
  })
}

/** Each field of the contract with each schema that must contain it. */
const comparisons = (): Comparison[] =>
  contractFields().flatMap((place) =>
    partsOf(place).flatMap(({ part, schema, isText }) =>
      isSchema(schema) ? [{ title: titleOf(place, part), part, field: place.field, schema, isText, path: stepsOf(place.name) }] : [],
    ),
  )

/** Titles of the expected comparisons; the route itself names its path parameters. */
const titlesOf = (place: Place): string[] => (place.field.in === 'path' ? [] : partsOf(place).map(({ part }) => titleOf(place, part)))

const titleOf = ({ route, name }: Place, part: string): string => `${route.name}: ${name} of the ${part}`

function partsOf({ route: { schema = {}, config = {} }, field }: Place) {
  const { fields, json } = config.form ?? {}
  if (field.in === 'path') return [{ part: 'path', schema: schema.params, isText: true }]
  if (field.in === 'query') return [{ part: 'query', schema: schema.querystring, isText: true }]
  const asJson = json ?? schema.body
  return [
    ...(asJson || !fields ? [{ part: 'JSON body', schema: asJson, isText: false }] : []),
    ...(fields ? [{ part: 'form', schema: fields, isText: true }] : []),
  ]
}

/** A value in the encoding of that part of the request; undefined when it cannot be encoded. Any scalar is a text there. */
function carried({ isText, field }: Comparison, value: unknown): unknown[] {
  if (!isText) return [value]
  const isTextOrTexts = [value].flat().every((item) => typeof item === 'string')
  if (isTextOrTexts) return [value]
  return isScalar(value) && field.type !== 'string' ? [String(value)] : []
}

const isScalar = (value: unknown): value is number | boolean => typeof value === 'number' || typeof value === 'boolean'

function isRefused({ schema, path, part }: Pick<Comparison, 'schema' | 'path' | 'part'>, value: unknown): boolean {
  const sent = path.reduceRight<unknown>((inner, step) => (step === ITEM ? [inner] : { [step]: inner }), value)
  const result = part === 'path' || part === 'query' ? schema.safeParse(sent) : readBody(schema, sent)
  const steps = path.map((step) => (step === ITEM ? 0 : step))
  return !result.success && result.error.issues.some((issue) => steps.every((step, at) => issue.path[at] === step))
}

const ITEM = '[]'

/** `chapters[].title` is a field of each list item. */
const stepsOf = (name: string): string[] => name.replaceAll(ITEM, `.${ITEM}`).split('.')
