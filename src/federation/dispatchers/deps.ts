// What the dispatchers work with, and what they learn of a request.

import type { Config } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Blocked } from '../blocked.ts'
import type { KeyStore } from '../security/key-store.ts'
import type { Urls } from '../urls.ts'
import type { JsonObject } from '../wire/index.ts'

export interface DispatcherDeps {
  db: Pick<Database, 'query'>
  urls: Urls
  config: () => Config
  keys: KeyStore
  blocked: Blocked
}

/** What was found out about a request before it is dispatched, so that nothing is asked twice. */
export interface RequestData {
  /** Of the video that is asked for; it exists, is ours, and may be shown. */
  videoId?: number
  /** The Note that is asked for, under the same conditions. */
  note?: JsonObject
}
