// Remote runners for administrators: registration tokens, runners and their jobs. `protocol.ts` has the requests of runners.

import { z } from 'zod'
import {
  listRegistrationTokens,
  listRunnerJobs,
  listRunners,
  type RunnerRow,
  runnerJobSorts,
  runnerJobStates,
} from '../../actors/runner/index.ts'
import { idText, listOf, oneOrMore, paging, sorting } from '../plugins/schemas.ts'
import type { App, Area } from '../plugins/types.ts'
import type { RunnersAreaDeps } from './deps.ts'
import { addProtocol } from './protocol.ts'
import {
  makeJobViews,
  registrationTokenView,
  runnerJobView,
  runnerView,
  toRegistrationTokenView,
  toRunnerView,
  toWorkingRunnerView,
  workingRunnerView,
} from './views.ts'

const manage = { right: 'MANAGE_RUNNERS' } as const
const response = { 204: z.null() }
const byUuid = z.object({ jobUUID: z.uuid() })

/** By the number of the contract. */
const STATES = new Map(Object.entries(runnerJobStates).map(([state, { id }]) => [String(id), state as keyof typeof runnerJobStates]))
const jobState = z.enum([...STATES.keys()]).transform((id) => STATES.get(id) ?? 'pending')

/** Adds `/runners` and what is below it. */
export function runnersArea(deps: RunnersAreaDeps): Area {
  const { db, config, secrets, runners, runnerJobs, works, urls } = deps
  const views = makeJobViews({ works, origin: urls.origin })

  async function list<T>({ sort, ...part }: { start: number; count: number; sort: { descending: boolean } }, view: (row: RunnerRow) => T) {
    const { total, rows } = await listRunners(db, { ...part, descending: sort.descending })
    return { total, data: rows.map(view) }
  }

  return (app) => {
    const byDate = z.object({ ...paging(config()), sort: sorting(['createdAt'], '-createdAt') })

    app.get(
      '/api/v1/runners',
      { config: manage, schema: { tags: ['Runners'], querystring: byDate, response: { 200: listOf(runnerView) } } },
      async ({ query }) => await list(query, toRunnerView),
    )

    app.get(
      '/api/v1/vireo/runners',
      {
        config: manage,
        schema: {
          operationId: 'listWorkingRunners',
          summary: 'List the remote runners with their versions, jobs and failures',
          tags: ['Runners'],
          querystring: byDate,
          response: { 200: listOf(workingRunnerView) },
        },
      },
      async ({ query }) => await list(query, toWorkingRunnerView),
    )

    app.delete(
      '/api/v1/runners/:runnerId',
      { config: manage, schema: { tags: ['Runners'], params: z.object({ runnerId: idText }), response } },
      async (request, reply) => {
        await runners.remove(request.params.runnerId)
        return reply.code(204).send(null)
      },
    )

    addRegistrationTokens(app, byDate)
    addJobs(app)
    addProtocol(app, { ...deps, views })
  }

  function addRegistrationTokens(app: App, querystring: z.ZodType<{ start: number; count: number; sort: { descending: boolean } }>): void {
    const tags = ['Runner Registration Token']
    app.get(
      '/api/v1/runners/registration-tokens',
      { config: manage, schema: { tags, querystring, response: { 200: listOf(registrationTokenView) } } },
      async ({ query: { sort, ...part } }) => {
        const { total, rows } = await listRegistrationTokens(db, { ...part, descending: sort.descending })
        return { total, data: rows.map((row) => toRegistrationTokenView(row, secrets.open(row.token_sealed))) }
      },
    )

    app.post('/api/v1/runners/registration-tokens/generate', { config: manage, schema: { tags, response } }, async (_request, reply) => {
      await runners.generateRegistrationToken()
      return reply.code(204).send(null)
    })

    app.delete(
      '/api/v1/runners/registration-tokens/:registrationTokenId',
      { config: manage, schema: { tags, params: z.object({ registrationTokenId: idText }), response } },
      async (request, reply) => {
        await runners.removeRegistrationToken(request.params.registrationTokenId)
        return reply.code(204).send(null)
      },
    )
  }

  function addJobs(app: App): void {
    const tags = ['Runner Jobs']
    const querystring = z.object({
      ...paging(config()),
      sort: sorting(runnerJobSorts, '-createdAt'),
      search: z.string().max(500).optional(),
      stateOneOf: oneOrMore(jobState).optional(),
    })

    app.get(
      '/api/v1/runners/jobs',
      { config: manage, schema: { tags, querystring, response: { 200: listOf(runnerJobView) } } },
      async ({ query: { sort, stateOneOf: states, ...rest } }) => {
        const { total, rows } = await listRunnerJobs(db, { ...rest, ...sort, states })
        return { total, data: rows.map(views.listed) }
      },
    )

    app.post(
      '/api/v1/runners/jobs/:jobUUID/cancel',
      { config: manage, schema: { operationId: 'cancelRunnerJob', tags, params: byUuid, response } },
      async (request, reply) => {
        await runnerJobs.cancel(request.params.jobUUID)
        return reply.code(204).send(null)
      },
    )

    app.delete('/api/v1/runners/jobs/:jobUUID', { config: manage, schema: { tags, params: byUuid, response } }, async (request, reply) => {
      await runnerJobs.remove(request.params.jobUUID)
      return reply.code(204).send(null)
    })
  }
}
