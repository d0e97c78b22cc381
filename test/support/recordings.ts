// Recorded exchanges of the reference server for tests of the HTTP frame (test/fixtures/recordings/http-frame.json).

import { readFileSync } from 'node:fs'
import { z } from 'zod'

const exchange = z.object({
  area: z.string(),
  name: z.string(),
  as: z.string(),
  request: z
    .object({
      method: z.string(),
      path: z.string(),
      query: z.record(z.string(), z.unknown()).optional(),
      headers: z.record(z.string(), z.string()).optional(),
      contentType: z.string().optional(),
      body: z.record(z.string(), z.unknown()).optional(),
      rawBody: z.union([z.string(), z.object({ repeat: z.string(), count: z.int() })]).optional(),
    })
    .loose(),
  response: z.object({
    status: z.int(),
    headers: z.record(z.string(), z.string()),
    body: z.unknown().optional(),
  }),
})

export type Exchange = z.infer<typeof exchange>

const file = new URL('../fixtures/recordings/http-frame.json', import.meta.url)
const all = z.array(exchange).parse(JSON.parse(readFileSync(file, 'utf8')))

/** The exchanges of an area, or one of them. */
export const exchangesOf = (area: string): Exchange[] => all.filter((one) => one.area === area)

export function exchangeOf(area: string, name: string): Exchange {
  const found = all.find((one) => one.area === area && one.name === name)
  if (!found) throw new Error(`no recording ${area}: ${name}`)
  return found
}

const problem = z.looseObject({
  type: z.string(),
  status: z.int(),
  detail: z.string(),
  error: z.string(),
  code: z.string().optional(),
  title: z.string().optional(),
  docs: z.string().optional(),
  instance: z.string().optional(),
  'invalid-params': z.record(z.string(), z.looseObject({ msg: z.string(), location: z.string() })).optional(),
})

/**
 * Normalises a problem body for comparison: the wording of messages is free, every body has a title, and the location of a header is
 * `header`.
 */
export function comparable(body: unknown) {
  const { title: _title, 'invalid-params': params, ...members } = problem.parse(body)
  const entries = Object.entries(params ?? {}).map(([name, param]) => [
    name,
    { ...param, msg: 'any', location: param.location.replace(/^headers$/, 'header') },
  ])
  return params === undefined ? members : { ...members, 'invalid-params': Object.fromEntries(entries) }
}
