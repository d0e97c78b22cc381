// What the routes of remote runners need.

import type { RemoteWorks, RunnerJobs, Runners } from '../../actors/runner/index.ts'
import type { Config } from '../../config/index.ts'
import type { Store } from '../../media/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Secrets } from '../../platform/secrets.ts'

export interface RunnersAreaDeps {
  db: Database
  config: () => Config
  secrets: Secrets
  store: Store
  urls: { origin: string }
  runners: Runners
  runnerJobs: RunnerJobs
  works: RemoteWorks
}
