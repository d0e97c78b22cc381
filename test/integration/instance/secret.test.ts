import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { makeInstance } from '../../../src/actors/instance/index.ts'
import { makeUrls } from '../../../src/federation/urls.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { makeSecrets } from '../../../src/platform/secrets.ts'
import { TEST_ORIGIN } from '../../support/builders.ts'
import { testConfig } from '../../support/config.ts'

import { makeTestRuntime, type TestRuntime } from '../../support/runtime.ts'

let runtime: TestRuntime
beforeAll(async () => {
  runtime = await makeTestRuntime()
})
afterAll(() => runtime.stop())

it('a database with keys sealed by another secret stops the start', async () => {
  const config = testConfig()
  const instanceWith = (secret: string) =>
    makeInstance({
      db: runtime.db,
      tell: runtime.runtime.tell,
      registry: runtime.runtime.registry,
      clock: systemClock,
      logger: silentLogger,
      config: () => config,
      urls: makeUrls(TEST_ORIGIN),
      secrets: makeSecrets({ secret }),
    })
  await instanceWith('the first').ensure()
  await instanceWith('the first').ensure()
  await expect(instanceWith('another').ensure()).rejects.toThrow(/secret\.key.*secrets\.peertube/)
})
