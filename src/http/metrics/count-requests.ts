// Counts requests by route template, never by address: the number of series is that of the routes.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Telemetry } from '../../platform/telemetry.ts'

/** Seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const LABELS = ['method', 'route', 'status'] as const

export type CountRequest = (request: FastifyRequest, reply: FastifyReply) => void

/** With `timed`, durations are recorded too: a dozen series per route. */
export function makeCountRequests(telemetry: Pick<Telemetry, 'counter' | 'histogram'>, { timed }: { timed: boolean }): CountRequest {
  const requests = telemetry.counter({
    name: 'vireo_http_requests_total',
    help: 'Answered requests, by the template of the route and the class of the status',
    labels: LABELS,
  })
  const durations = timed
    ? telemetry.histogram({
        name: 'vireo_http_request_duration_seconds',
        help: 'Time from the head of a request to the last byte of its answer',
        labels: LABELS,
        buckets: BUCKETS,
      })
    : undefined

  return (request, reply) => {
    const labels = {
      method: METHODS.has(request.method) ? request.method : 'other',
      route: request.routeOptions.url ?? 'unknown',
      status: `${Math.floor(reply.statusCode / 100)}xx`,
    }
    requests.add(labels)
    durations?.observe(labels, reply.elapsedTime / 1000)
  }
}
