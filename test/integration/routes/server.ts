// The whole server in the test process, with its list of routes. Jobs, deliveries and activities are idle.

import pg from 'pg'
import { makeFileStore, type Store } from '../../../src/media/index.ts'
import type { Row, Sql } from '../../../src/platform/database/index.ts'
import { testConfig } from '../../support/config.ts'
import { startTestNode } from '../../support/node.ts'
import type { RouteTarget } from './fixtures.ts'
import { makeRouteList, type Route } from './route-list.ts'

export interface RouteServer extends RouteTarget {
  routes: Route[]
  stop(): Promise<void>
}

/** Never during a test: only notified work runs. */
const NEVER = '1 day'

export async function startRouteServer(): Promise<RouteServer> {
  const { routes, onRoute } = makeRouteList()
  const node = await startTestNode({
    roles: ['web'],
    onRoute,
    config: {
      instance: { default_nsfw_policy: 'display' },
      video_file: { update: { enabled: true } },
      video_studio: { enabled: true },
      live: { enabled: true, max_user_lives: -1, max_instance_lives: -1 },
      import: {
        videos: { http: { enabled: true }, torrent: { enabled: true } },
        video_channel_synchronization: { enabled: true, max_per_user: 1000 },
      },
      open_telemetry: { metrics: { enabled: true } },
      tracker: { enabled: true },
      signup: { enabled: true, limit: -1, requires_approval: false, requires_email_verification: false },
      vireo: {
        federation: { allow_http: true, allow_private_addresses: true },
        runtime: { relay_interval: NEVER, sweep_interval: NEVER, counters_interval: NEVER },
      },
    },
  })
  const pool = new pg.Pool({ connectionString: node.databaseUrl, max: 8 })
  pool.on('error', () => undefined)
  const query: Sql = async <R extends object = Row>(text: string, values: readonly unknown[] = []) =>
    (await pool.query(text, [...values])).rows as R[]
  return {
    routes,
    base: node.base,
    db: { query },
    store: storeIn(node.dataDir),
    async stop() {
      await pool.end()
      await node.stop()
    },
  }
}

/** The folders from which the server serves files. */
function storeIn(dataDir: string): Store {
  const { tmp_persistent: uploads, ...folders } = testConfig({}, { dataDir }).storage
  return makeFileStore({ directories: { ...folders, uploads }, tmp: folders.tmp })
}
