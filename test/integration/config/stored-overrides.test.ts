// Stored configuration changes without the bus, and stored values that are no longer valid.

import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { makeRuntimeConfig, makeStoredOverrides } from '../../../src/actors/runtime-config/index.ts'
import { type Config, makeConfigSource } from '../../../src/config/index.ts'
import type { Values } from '../../../src/config/layers.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { runtimeSettings } from '../../../src/runtime-settings.ts'
import { makeUser } from '../../support/builders.ts'
import { testLoadedConfig } from '../../support/config.ts'
import { type MemoryQueue, makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'

const DEAF = { subscribe: () => () => {} }

let one: TestRuntime
let other: TestRuntime
beforeEach(async () => {
  one = await makeTestRuntime()
  other = await makeTestRuntime({ url: one.url })
})
afterEach(async () => {
  await other.stop()
  await one.stop()
})

/** A process whose bus loses every message. */
function processOn({ runtime, db }: TestRuntime, values: Values = {}) {
  const source = makeConfigSource(testLoadedConfig(values))
  const stored = makeStoredOverrides({ db, source, logger: silentLogger, secrets: makeSecrets({ secret: 'of this test' }) })
  const config = makeRuntimeConfig({
    ...runtime,
    logger: silentLogger,
    source,
    stored,
    bus: DEAF,
    instanceActorId: async () => 1,
  })
  return { source, stored, config, sweep: () => runtime.sweeper.sweep() }
}

const nameOf = (source: { current(): Config }) => source.current().instance.name

it('a process that gets no messages learns of a change from its sweeper', async () => {
  const root = await makeUser(one.db, { username: 'root', role: 0 })
  const [here, there] = [processOn(one), processOn(other)]
  await here.config.change([{ path: ['instance', 'name'], value: 'New' }], root)
  expect(nameOf(here.source)).toBe('New')
  expect(nameOf(there.source)).toBe('Vireo')
  await there.sweep()
  expect(nameOf(there.source)).toBe('New')
  await there.config.reset(root)
  await here.sweep()
  expect(nameOf(here.source)).toBe('Vireo')
})

it('changes in both processes are merged', async () => {
  const root = await makeUser(one.db, { username: 'root', role: 0 })
  const [here, there] = [processOn(one), processOn(other)]
  await Promise.all([
    here.config.change([{ path: ['instance', 'name'], value: 'New' }], root),
    there.config.change([{ path: ['signup', 'limit'], value: 7 }], root),
  ])
  await Promise.all([here.sweep(), there.sweep()])
  for (const { source } of [here, there]) {
    expect(source.current()).toMatchObject({ instance: { name: 'New' }, signup: { limit: 7 } })
  }
})

it('a key without an override follows the file at the next start', async () => {
  const root = await makeUser(one.db, { username: 'root', role: 0 })
  const before = processOn(one, { instance: { terms: 'Old terms' } })
  await before.config.change(
    [
      { path: ['instance', 'name'], value: 'New' },
      { path: ['instance', 'terms'], value: 'Old terms' },
    ],
    root,
  )
  const after = processOn(other, { instance: { terms: 'New terms' } })
  await after.stored.load()
  expect(after.source.current().instance).toMatchObject({ name: 'New', terms: 'New terms' })
})

it('an invalid stored value is ignored, and the rest stays in force', async () => {
  const overrides = {
    instance: { name: 'New', gone: 'x' },
    listen: { port: 1 },
    signup: { limit: 'many' },
    transcoding: { hls: { enabled: false }, threads: 3 },
  }
  await one.db.query('update runtime_config set overrides = $1, version = 4', [JSON.stringify(overrides)])
  const { source, stored } = processOn(one)
  await stored.load()
  expect(source.current()).toMatchObject({
    instance: { name: 'New' },
    listen: { port: 9000 },
    signup: { limit: 10 },
    transcoding: { hls: { enabled: true }, threads: 3 },
  })
})

it('an invalid stored value blocks nothing, and is removed by the next change', async () => {
  const root = await makeUser(one.db, { username: 'tidy', role: 0 })
  const overrides = { instance: { name: 'New', gone: 'x' } }
  await one.db.query('update runtime_config set overrides = $1, version = version + 1', [JSON.stringify(overrides)])
  const { source, stored, config } = processOn(one)
  await stored.load()
  await config.change([{ path: ['instance', 'terms'], value: 'Be kind' }], root)
  expect(source.current().instance).toMatchObject({ name: 'New', terms: 'Be kind' })
  expect(await one.db.query('select overrides from runtime_config')).toEqual([
    { overrides: { instance: { name: 'New', terms: 'Be kind' } } },
  ])
})

it('a deleted user leaves the name with the changes', async () => {
  const root = await makeUser(one.db, { username: 'gone', role: 0 })
  await processOn(one).config.change([{ path: ['theme', 'default'], value: 'other' }], root)
  await one.db.query('delete from users where id = $1', [root.id])
  expect(await one.db.query('select user_id, username, keys from runtime_config_change')).toEqual([
    { user_id: null, username: 'gone', keys: ['theme.default'] },
  ])
})

it('the workers of a queue follow the configured concurrency', async () => {
  const set: [string, number][] = []
  const queue: MemoryQueue = {
    ...other.queue,
    work: async (name) => ({ close: async () => {}, setConcurrency: (to) => set.push([name, to]) }),
  }
  const source = makeConfigSource(testLoadedConfig({}))
  const settings = () => runtimeSettings(source.current(), ['media'])
  const third = await makeTestRuntime({
    url: one.url,
    queue,
    settings: {
      get queueConcurrency() {
        return settings().queueConcurrency
      },
      jobs: { ownWorkers: (type) => settings().jobs.ownWorkers(type) },
    },
  })
  third.runtime.registry.job('video-transcoding', { queue: 'media', run: async () => {} })
  await third.runtime.start()
  source.override({ transcoding: { concurrency: 5 } })
  third.runtime.adapt()
  expect(set).toEqual([['media', 7]])
  await third.stop()
})
