// The queue of jobs: `/jobs`, `/jobs/{state}`, `/jobs/pause`, `/jobs/resume`, and `/vireo/jobs/{id}/retry`, `cancel`.

import { z } from 'zod'
import { type JobQueue, jobStates, listJobs } from '../../actors/job-queue/index.ts'
import { type Config, JOB_TYPE_NAMES } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { integerText, listOf, paging, sorting } from '../plugins/schemas.ts'
import type { Area } from '../plugins/types.ts'
import { jobView, toJobView } from './views.ts'

const TAGS = ['Job']
const LONGEST_ID = 120

const listQuery = (config: Config) => {
  const { list_max } = config.vireo.jobs
  const { start } = paging(config)
  return z.object({
    jobType: z.enum(JOB_TYPE_NAMES, 'Invalid value').optional(),
    start,
    count: integerText({ min: 0, max: list_max }).default(Math.min(list_max, config.vireo.pagination.default_count)),
    sort: sorting(['createdAt'], '-createdAt'),
  })
}

export function jobsArea(deps: {
  db: Database
  clock: Clock
  config: () => Config
  jobQueue: Pick<JobQueue, 'pause' | 'resume' | 'retry' | 'cancel'>
}): Area {
  const { db, clock, config, jobQueue } = deps
  const manage = { right: 'MANAGE_JOBS' } as const
  const querystring = listQuery(config())
  const response = { 200: listOf(jobView) }

  async function list(
    { start, count, jobType, sort }: z.infer<typeof querystring>,
    state?: (typeof jobStates)[number],
  ): Promise<z.infer<(typeof response)[200]>> {
    const query = { state, type: jobType, start, count, descending: sort.descending }
    const { total, rows } = await listJobs(db, query, clock.now())
    return { total, data: rows.map(toJobView) }
  }

  return (app) => {
    app.get(
      '/api/v1/jobs',
      { config: manage, schema: { operationId: 'getAllJobs', tags: TAGS, querystring, response } },
      async ({ query }) => await list(query),
    )

    app.get(
      '/api/v1/jobs/:state',
      {
        config: manage,
        schema: {
          operationId: 'getJobs',
          tags: TAGS,
          // Without a state it lists all, with or without a trailing slash.
          params: z.object({ state: z.enum(['', ...jobStates], 'Invalid value') }),
          querystring,
          response,
        },
      },
      async ({ query, params }) => await list(query, params.state || undefined),
    )

    for (const [verb, summary] of [
      ['retry', 'Run a failed job, delivery or activity again'],
      ['cancel', 'Let a job fail that waits or runs'],
    ] as const) {
      app.post(
        `/api/v1/vireo/jobs/:id/${verb}`,
        {
          config: manage,
          schema: {
            operationId: `${verb}Job`,
            summary,
            tags: TAGS,
            params: z.object({ id: z.string().max(LONGEST_ID) }),
            response: { 204: z.null() },
          },
        },
        async ({ params: { id } }, reply) => {
          await jobQueue[verb](id)
          return reply.code(204).send(null)
        },
      )
    }

    for (const move of ['pause', 'resume'] as const) {
      app.post(
        `/api/v1/jobs/${move}`,
        {
          config: manage,
          schema: { operationId: `${move}Jobs`, tags: TAGS, response: { 204: z.null() } },
        },
        async (_request, reply) => {
          await jobQueue[move]()
          return reply.code(204).send(null)
        },
      )
    }
  }
}
