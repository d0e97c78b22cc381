// Bad input, made from the schemas of all routes: it is refused by name, and changes nothing. A new route is covered by
// its row in the route matrix.

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

/** Refused otherwise, each by its own standard. */
const EXEMPT: Readonly<Record<string, string>> = {
  'POST /api/v1/users/token': 'a form with the codes of OAuth (RFC 6749, 5.2)',
}
/** What is right for a moment only, such as codes of an authenticator, is made anew when it is needed. */
const SOON_OLD: ReadonlySet<string> = new Set(['POST /api/v1/users/:id/two-factor/confirm-request'])
const AT_ONCE = 8

interface Subject {
  route: Route
  caller: Caller
  /** Of the row. */
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
  // What the right requests left: the server collects it by itself, at any time.
  await stage.db.query('delete from pending_file')
  subjects = found.filter((subject) => subject !== undefined)
})
afterAll(async () => {
  await connections.close()
  await stage?.stop()
})

describe('bad input', () => {
  it('is refused by the name and the place of the field, and nothing changes', async () => {
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

/** What of a route is tried, by the first of its callers whose request is right. */
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

/** As `fetch` would, in a part of its time. */
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

/** Pages tell people in their own form what was wrong; programs get the names of the fields. */
function asProgram(probe: RouteRequest): RouteRequest {
  return probe.headers?.accept === 'text/html' ? { ...probe, headers: { ...probe.headers, accept: '*/*' } } : probe
}

const bytesOf = (body: unknown): string | Uint8Array | null => (typeof body === 'string' || body instanceof Uint8Array ? body : null)

const typeOf = ({ 'content-type': type }: Record<string, string | string[] | undefined>): string | null =>
  type === undefined ? null : String(type)

/** Sends the probes of all routes, and tells what is wrong with the answers. */
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
  // A path that nothing can have leads nowhere; pages say so to people.
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

/** Bodies, fields and addresses have lengths of their own, whatever is in them. */
function faultOfHuge(_probe: Probe, { status, type, body }: Answer): string | undefined {
  const isRefused = [400, 413, 431].includes(status) && type?.startsWith('application/problem+json')
  return isRefused ? undefined : `${status} ${body.slice(0, 300)}`
}
