// Dependencies of the federation layer.

import type { Registry, Tell } from '../actors/runtime/index.ts'
import type { Config } from '../config/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/database/index.ts'
import type { GuardedFetch } from '../platform/fetch/index.ts'
import type { Logger } from '../platform/logger.ts'
import type { Blocked } from './blocked.ts'
import type { DocumentChecks } from './security/document-checks.ts'
import type { KeyStore } from './security/key-store.ts'
import type { Urls } from './urls.ts'

export interface FederationDeps {
  db: Database
  tell: Tell
  registry: Registry
  clock: Clock
  logger: Logger
  config: () => Config
  urls: Urls
  keys: KeyStore
  checks: DocumentChecks
  /** Refuses blocked servers, except for deliveries. */
  http: GuardedFetch
  blocked: Blocked
}
