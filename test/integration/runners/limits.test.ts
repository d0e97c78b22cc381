// Rate limits for guessing tokens of runners: per address, without affecting runners with valid tokens.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type RunnerHarness, startHarness } from './harness.ts'

const MAX = 20
let world: RunnerHarness

beforeAll(async () => {
  world = await startHarness({ rates_limit: { api: { max: MAX, window: '10 minutes' } } })
})
afterAll(() => world?.stop())

const from = (address: string) => async (path: string, body: object) => {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': address }
  const response = await fetch(`${world.node.base}/api/v1/runners/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return response.status
}

it.each([
  ['runners', 'jobs/request', { runnerToken: 'ptrt-guess' }, '198.51.100.1'],
  ['jobs', 'jobs/11111111-2222-4333-8444-555555555555/update', { runnerToken: 'ptrt-guess', jobToken: 'ptrjt-guess' }, '198.51.100.2'],
  ['registrations', 'register', { registrationToken: 'ptrrt-guess', name: 'a runner' }, '198.51.100.3'],
])('limits guesses of one address with 429: tokens of %s', async (name, path, body, address) => {
  const [ask, elsewhere] = [from(address), from('203.0.113.7')]
  const runnerToken = await world.register(`known, ${name}`)
  const statuses: number[] = []
  for (let guess = 0; guess < MAX + 2; guess += 1) statuses.push(await ask(path, body))
  expect(statuses).toEqual([...Array(MAX).fill(404), 429, 429])
  for (const known of [ask, elsewhere]) expect(await known('jobs/request', { runnerToken })).toBe(200)
})
