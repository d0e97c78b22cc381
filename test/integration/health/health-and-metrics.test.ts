// Health and metrics of two processes of one server: one with the role `media` alone, and a web process behind a proxy to its database,
// which stalls and refuses connections.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import pg from 'pg'
import { makeLogger } from '../../../src/platform/logger.ts'
import { makeVideo } from '../../support/builders.ts'
import { POOL_MAX } from '../../support/config.ts'
import { slowness } from '../../support/cpu-time.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../../support/database-proxy.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'
import { type MetricFamily, parseMetrics, seriesValue } from '../../support/prometheus.ts'
import { until } from '../../support/until.ts'

let media: TestNode
let web: TestNode
let proxy: DatabaseProxy
const lines: string[] = []

beforeAll(async () => {
  media = await startTestNode({
    roles: ['media'],
    config: { open_telemetry: { metrics: { enabled: true } }, vireo: { health: { port: 0 } } },
  })
  proxy = await startDatabaseProxy(media.databaseUrl)
  web = await startTestNode({
    beside: { ...media, databaseUrl: proxy.url },
    roles: ['web'],
    logger: makeLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } }),
    config: { open_telemetry: { metrics: { enabled: true, http_request_duration: { enabled: true } } } },
  })
})
afterAll(async () => {
  proxy?.resume()
  await web?.stop()
  await proxy?.close()
  await media?.stop()
})

const originOf = (where: { hostname: string; port: number } | null): string => `http://${where?.hostname}:${where?.port}`
const exporter = (node: TestNode) => originOf(node.server.exporter)

async function ask(url: string) {
  const begun = performance.now()
  const answer = await fetch(url)
  const text = await answer.text()
  return { status: answer.status, text, headers: answer.headers, ms: performance.now() - begun }
}

type Families = Map<string, MetricFamily>

async function figures(node: TestNode): Promise<Families> {
  const { status, text, headers } = await ask(`${exporter(node)}/metrics`)
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  return parseMetrics(text)
}

/** Values are up to a second old. */
const figuresWith = (node: TestNode, fits: (families: Families) => boolean): Promise<Families> =>
  until(async () => {
    const found = await figures(node)
    return fits(found) ? found : undefined
  })

describe('a healthy process', () => {
  it('is alive and ready, on each of its listeners', async () => {
    const origins = [web.base, exporter(web), exporter(media), originOf(media.server.healthListener)]
    for (const origin of origins) {
      const live = await ask(`${origin}/health/live`)
      expect([live.status, JSON.parse(live.text)]).toEqual([200, { status: 'live' }])
      const ready = await ask(`${origin}/health/ready`)
      expect([ready.status, JSON.parse(ready.text), ready.headers.get('cache-control')]).toEqual([
        200,
        { status: 'ready', parts: { database: 'up', migrations: 'done' } },
        'no-store',
      ])
      expect((await fetch(`${origin}/health/ready`, { method: 'HEAD' })).status).toBe(200)
    }
  })

  it('does not log health checks, and counts them for no limit', async () => {
    await ask(`${web.base}/api/v1/config`)
    await until(() => lines.some((line) => line.includes('/api/v1/config')))
    expect(lines.filter((line) => line.includes('/health'))).toEqual([])
    expect((await ask(`${web.base}/health/ready`)).headers.get('x-ratelimit-limit')).toBeNull()
  })

  it('serves its metrics on the exporter port only', async () => {
    expect((await ask(`${web.base}/metrics`)).status).toBe(404)
    expect((await ask(`${originOf(media.server.healthListener)}/metrics`)).status).toBe(404)
    expect((await fetch(`${exporter(media)}/metrics`, { method: 'POST', body: 'x' })).status).toBe(405)
    expect((await ask(`${exporter(media)}/constructor`)).status).toBe(404)
  })
})

describe('the figures', () => {
  it('contain the process, its role and its connections', async () => {
    for (const [node, roles] of [[media, 'media'] as const, [web, 'web'] as const]) {
      const families = await figuresWith(node, (found) => seriesValue(found, 'vireo_ready') === 1)
      expect(seriesValue(families, 'vireo_build_info', { roles })).toBe(1)
      expect(seriesValue(families, 'vireo_part_up', { part: 'database' })).toBe(1)
      expect(seriesValue(families, 'vireo_database_connections', { state: 'most' })).toBe(POOL_MAX)
      expect(seriesValue(families, 'nodejs_eventloop_lag_mean_seconds')).toBeGreaterThanOrEqual(0)
    }
  })

  it('count requests by route, method and class, and create no series from client input', async () => {
    const paths = ['/api/v1/videos/1', '/api/v1/videos/2', '/api/v1/videos/nothing-here', '/api/v1/config', '/a/b', '/a/c?d=e']
    for (const path of paths) await ask(`${web.base}${path}`)
    await fetch(`${web.base}/api/v1/config`, { method: 'OPTIONS' })
    const labels = { method: 'GET', route: '/api/v1/videos/:id', status: '4xx' }
    const routesIn = (found: Families) => new Set(found.get('vireo_http_requests_total')?.samples.map((sample) => sample.labels.route))
    // A request is counted shortly after its response.
    const families = await figuresWith(
      web,
      (found) => seriesValue(found, 'vireo_http_requests_total', labels) === 3 && routesIn(found).has('/api/v1/*'),
    )
    const routes = [...routesIn(families)]
    expect(routes.filter((route) => route?.startsWith('/api')).sort()).toEqual(['/api/v1/*', '/api/v1/config', '/api/v1/videos/:id'])
    const timed = families.get('vireo_http_request_duration_seconds')?.samples ?? []
    const count = timed.find(({ name, labels: of }) => name.endsWith('_count') && of.route === labels.route)
    expect(count?.value).toBe(3)
  })

  it('count pending work, the same in every process', async () => {
    const client = new pg.Client({ connectionString: media.databaseUrl })
    await client.connect()
    await client.query(
      `insert into job (type, queue, state, due_at) values
         ('video-transcoding', 'media', 'delayed', now() + interval '1 day'),
         ('video-transcoding', 'media', 'completed', now()), ('unheard-of', 'io', 'failed', now())`,
    )
    await client.query("insert into remote_host (host, state) values ('a.example', 'healthy'), ('b.example', 'dormant')")
    await client.query(
      `insert into outbox (aggregate, aggregate_id, event, payload, parked_at, created_at)
         values ('video', 1, 'nothing', '{}', now(), now())`,
    )
    await client.query(
      `insert into outbox (aggregate, aggregate_id, event, payload, due_at, created_at)
         values ('video', 2, 'nothing', '{}', now() + interval '1 day', now() - interval '1 hour')`,
    )
    const db = { query: async (text: string, values: readonly unknown[] = []) => (await client.query(text, [...values])).rows }
    const [channel] = await db.query('select id from channel limit 1')
    const live = await makeVideo(db, { channelId: channel.id, bare: true, columns: { is_live: true } })
    await client.query(
      `with s as (
         insert into live_session (video_id, state, context, due_at, save_replay, first_sequence, plan, started_at, created_at, updated_at)
         values ($1, 'publishing', '{}', now() + interval '1 day', false, 0, '{"encoded":[{"rendition":1}]}', now(), now(), now())
         returning id
       )
       insert into live_piece (session_id, sequence, generation, seconds, bytes, sha256, starts_at, is_private)
       select id, sequence, 1, 4, 1000, 'aa', now() - interval '1 minute', false from s, generate_series(0, 2) sequence`,
      [live.id],
    )
    await client.query(
      `insert into live_rendition_piece (session_id, rendition, sequence, bytes, sha256)
       select session_id, 1, sequence, case when sequence = 0 then 500 end, case when sequence = 0 then 'bb' end
       from live_piece where sequence < 2`,
    )
    await client.end()
    for (const node of [media, web]) {
      const hasParked = (found: Families) => seriesValue(found, 'vireo_outbox_events', { state: 'parked' }) === 1
      const families = await figuresWith(node, hasParked)
      const value = (name: string, labels: Record<string, string>) => seriesValue(families, name, labels)
      expect(value('vireo_jobs', { queue: 'media', type: 'video-transcoding', state: 'delayed' })).toBe(1)
      expect(value('vireo_jobs', { queue: 'media', type: 'video-transcoding', state: 'completed' })).toBe(1)
      expect(value('vireo_jobs', { queue: 'unknown', type: 'unheard-of', state: 'failed' })).toBe(1)
      expect(value('vireo_transcodings', { state: 'waiting' })).toBe(1)
      expect(value('vireo_transcodings', { state: 'running' })).toBe(0)
      expect(value('vireo_remote_hosts', { state: 'dormant' })).toBe(1)
      expect(value('vireo_outbox_events', { state: 'waiting' })).toBe(1)
      expect(value('vireo_outbox_oldest_seconds', {})).toBeGreaterThanOrEqual(3600)
      expect(value('vireo_deliveries', { state: 'waiting' })).toBe(0)
      expect(value('vireo_live_sessions', { state: 'publishing' })).toBe(1)
      expect(value('vireo_live_pieces', { state: 'received' })).toBe(3)
      expect(value('vireo_live_pieces', { state: 'encoded' })).toBe(1)
      expect(value('vireo_live_pieces', { state: 'left out' })).toBe(1)
      expect(value('vireo_live_encoding_seconds', {})).toBeGreaterThanOrEqual(60)
      expect(value('vireo_backlog_age_seconds', {})).toBeLessThan(60)
    }
  })
})

describe('a process whose database', () => {
  const statusOf = async () => (await ask(`${web.base}/health/ready`)).status

  it.each(['silent', 'gone'] as const)('is %s reports it at once, and is ready again afterwards', async (how) => {
    if (how === 'silent') proxy.stall()
    else proxy.refuse()
    const unready = await until(async () => {
      const answer = await ask(`${web.base}/health/ready`)
      expect(answer.ms).toBeLessThan(2000 * slowness())
      return answer.status === 503 ? answer : undefined
    })
    expect(JSON.parse(unready.text)).toEqual({
      status: 'unavailable',
      parts: { database: 'down', migrations: 'done' },
    })
    expect((await ask(`${web.base}/health/live`)).status).toBe(200)
    const families = await figuresWith(web, (found) => seriesValue(found, 'vireo_ready') === 0)
    expect(seriesValue(families, 'vireo_part_up', { part: 'database' })).toBe(0)
    // The last counted values.
    expect(seriesValue(families, 'vireo_outbox_events', { state: 'parked' })).toBe(1)
    proxy.resume()
    await until(async () => (await statusOf()) === 200, { what: 'readiness' })
  })
})

it('a port in use stops the start with a line that names its key', async () => {
  const port = media.server.exporter?.port ?? 0
  const config = { open_telemetry: { metrics: { enabled: true, prometheus_exporter: { port } } } }
  await expect(startTestNode({ beside: media, roles: ['media'], config })).rejects.toThrow(
    `Cannot listen on 127.0.0.1:${port}: another program uses this port. Stop it, or set \`open_telemetry.metrics.prometheus_exporter.port\`.`,
  )
})

it('a stopping process is unready at once, and answers until it exits', async () => {
  const { healthListener } = media.server
  const stopped = media.server.stop()
  const answer = await ask(`${originOf(healthListener)}/health/ready`)
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([503, { status: 'draining' }])
  await stopped
  await expect(fetch(`${originOf(healthListener)}/health/live`)).rejects.toThrow()
})
