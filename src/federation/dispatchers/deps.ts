// Dependencies of the dispatchers, and their data about a request.

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

/** Data that was found before a request is dispatched, so that nothing is read twice. */
export interface RequestData {
  /** The requested video; it exists, is local, and may be shown. */
  videoId?: number
  /** The requested Note, under the same conditions. */
  note?: JsonObject
}
