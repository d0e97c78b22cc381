// Invalid input, generated from the schemas of all routes: it is refused with the name of the field, and changes nothing. New routes are
// covered by their row in the route matrix.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Agent, request } from 'undici'
import { z } from 'zod'
import { type Caller, callers } from './caller.ts'
import { fingerprint } from './fingerprint.ts'
import { makeRouteFixtures } from './fixtures.ts'
import { type Probe, type Probes, probesOf } from './probes.ts'
import { addressOf, contentOf } from './request.ts'
import type { Route } from './route-list.ts'
import type { RouteRequest, Row } from './row.ts'
import { rows } from './rows/index.ts'
import { isSchema } from './schema-fields.ts'
import { type RouteServer, startRouteServer } from './server.ts'

/** Routes with their own error formats. */
const EXEMPT: Readonly<Record<string, string>> = {
  'POST /api/v1/users/token': 'a form with the codes of OAuth (RFC 6749, 5.2)',
}
/** Values that expire, such as one-time codes, are created again when they are needed. */
const SOON_OLD: ReadonlySet<string> = new Set(['POST /api/v1/users/:id/two-factor/confirm-request'])
const AT_ONCE = 8

interface Subject {
  route: Route
  caller: Caller
  /** The row's request. */
  status: number
  token: string | undefined
  probes: Probes
}

const seen = new Set<string>()
const connections = new Agent({ connections: AT_ONCE })
let stage: RouteServer
let subjects: Subject[]

beforeAll(async () => {
  stage = await startRouteServer()
  const found = await Promise.all(stage.routes.map(subjectOf))
  // Files of valid requests, which the server collects at any time.
  await stage.db.query('delete from pending_file')
  subjects = found.filter((subject) => subject !== undefined)
})
afterAll(async () => {
  await connections.close()
  await stage?.stop()
})

describe('invalid input', () => {
  it('is refused with the name and the location of the field, and nothing changes', async () => {
    const before = await fingerprint(stage.db)
    const faults = await faultsOf(({ probes }) => [...probes.single, ...probes.several], faultOfRefusal)
    expect(faults).toEqual([])
    expect(await fingerprint(stage.db)).toEqual(before)
  })

  it('of a megabyte is refused, and nothing changes', async () => {
    const before = await fingerprint(stage.db)
    expect(await faultsOf(({ probes }) => probes.huge, faultOfHuge)).toEqual([])
    expect(await fingerprint(stage.db)).toEqual(before)
  })
})

describe('unknown fields', () => {
  it('are ignored', async () => {
    const faults: string[] = []
    for (const known of subjects) {
      const subject = SOON_OLD.has(known.route.name) ? await subjectOf(known.route) : known
      const { route, status, token, probes } = subject ?? known
      for (const { request } of probes.unknown) {
        const answer = await send(route, request, token)
        if (answer.status !== status) faults.push(`${route.name}: ${status} expected, ${answer.status}: ${answer.body}`)
      }
    }
    expect(faults).toEqual([])
  })
})

/** The probes of a route, by the first of its callers whose request is valid. */
async function subjectOf(route: Route): Promise<Subject | undefined> {
  if (route.name in EXEMPT || !hasSchema(route)) return undefined
  const found = rows
    .filter((row) => row.route === route.name)
    .flatMap((row) => pairs(row))
    .at(0)
  if (!found) return undefined
  const { row, caller } = found
  const fixtures = await makeRouteFixtures(stage)
  const probes = probesOf(route, await row.request(fixtures, caller), seen)
  const token = caller === 'anonymous' ? undefined : (await fixtures.session(caller)).access
  return { route, caller, token, probes, status: row.statuses[caller] }
}

const hasSchema = ({ schema, config }: Route): boolean =>
  [schema?.params, schema?.querystring, schema?.body, config?.form?.fields].some(isSchema)

const pairs = (row: Row): { row: Row; caller: Caller }[] =>
  callers.filter((caller) => caller !== 'anonymous' && row.statuses[caller] < 400).map((caller) => ({ row, caller }))

interface Answer {
  status: number
  type: string | null
  body: string
}

/** Like `fetch`, in a fraction of its time. */
async function send(route: Route, probe: RouteRequest, token: string | undefined): Promise<Answer> {
  const content = contentOf(probe)
  const { body } = content
  const isForm = body instanceof FormData || body instanceof URLSearchParams
  const encoded = isForm ? new Response(body) : undefined
  const answer = await request(new URL(addressOf(route, probe), stage.base), {
    dispatcher: connections,
    method: route.method,
    headers: {
      ...(encoded ? { 'content-type': encoded.headers.get('content-type') ?? '' } : {}),
      ...Object.fromEntries(new Headers(content.headers)),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: encoded ? Buffer.from(await encoded.arrayBuffer()) : bytesOf(body),
  })
  return { status: answer.statusCode, type: typeOf(answer.headers), body: await answer.body.text() }
}

/** Pages show errors to people; API clients get field names. */
function asProgram(probe: RouteRequest): RouteRequest {
  return probe.headers?.accept === 'text/html' ? { ...probe, headers: { ...probe.headers, accept: '*/*' } } : probe
}

const bytesOf = (body: unknown): string | Uint8Array | null => (typeof body === 'string' || body instanceof Uint8Array ? body : null)

const typeOf = ({ 'content-type': type }: Record<string, string | string[] | undefined>): string | null =>
  type === undefined ? null : String(type)

/** Sends the probes of all routes, and returns the wrong responses. */
async function faultsOf(
  choose: (subject: Subject) => Probe[],
  faultOf: (probe: Probe, answer: Answer) => string | undefined,
): Promise<string[]> {
  const waiting = subjects.flatMap((subject) => choose(subject).map((probe) => ({ subject, probe })))
  const faults: string[] = []
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { subject, probe } = next
      const fault = faultOf(probe, await send(subject.route, asProgram(probe.request), subject.token))
      if (fault !== undefined) faults.push(`${probe.title}: ${fault}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return faults
}

const refusal = z.object({
  status: z.literal(400),
  'invalid-params': z.record(z.string(), z.looseObject({ location: z.string(), msg: z.string(), path: z.string() })),
})

function faultOfRefusal({ location, fields }: Probe, { status, type, body }: Answer): string | undefined {
  const shown = `${status} ${body.slice(0, 300)}`
  // An impossible path is a 404; pages show it to people.
  const says = (as: string): boolean => type?.startsWith(as) === true
  if (location === 'params' && status === 404 && (says('application/problem+json') || says('text/html'))) return undefined
  if (status !== 400 || !type?.startsWith('application/problem+json')) return shown
  const problem = refusal.safeParse(JSON.parse(body))
  if (!problem.success) return shown
  const params = Object.entries(problem.data['invalid-params'])
  const isAbout = (field: string, name: string) => name === field || name.startsWith(`${field}.`)
  const unnamed = fields.filter((field) => !params.some(([name, param]) => isAbout(field, name) && param.location === location))
  return unnamed.length === 0 ? undefined : `not named: ${unnamed.join(', ')}: ${shown}`
}

/** Bodies, fields and URLs have length limits, for any content. */
function faultOfHuge(_probe: Probe, { status, type, body }: Answer): string | undefined {
  const isRefused = [400, 413, 431].includes(status) && type?.startsWith('application/problem+json')
  return isRefused ? undefined : `${status} ${body.slice(0, 300)}`
}
