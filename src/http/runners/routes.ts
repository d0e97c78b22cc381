// Remote runners, which this version does not support: the lists are empty, and no runner token is valid.

import { z } from 'zod'
import { DomainError, notFound } from '../../actors/runtime/index.ts'
import type { Config } from '../../config/index.ts'
import { idText, oneOrMore, paging, sorting } from '../plugins/schemas.ts'
import type { App, Area } from '../plugins/types.ts'

const tags = ['Runners']
const manage = { right: 'MANAGE_RUNNERS' } as const
const empty = z.object({ total: z.literal(0), data: z.tuple([]) })
const NOTHING = { total: 0 as const, data: [] as [] }
const response = { 204: z.null() }

const jobParams = z.object({ jobUUID: z.uuid() })
/** `RunnerJobState` of the contract. */
const jobState = z.enum(['1', '2', '3', '4', '5', '6', '7', '8', '9'])
const token = z.string().min(1).max(1000)
const runnerBody = z.object({ runnerToken: token })

/** Adds `/runners` and what is below it. */
export function runnersArea({ config }: { config: () => Config }): Area {
  return (app) => {
    const listed = paging(config())
    const byDate = z.object({ ...listed, sort: sorting(['createdAt'], '-createdAt') })
    const jobs = z.object({
      ...listed,
      sort: sorting(['updatedAt', 'createdAt', 'priority', 'state', 'progress'], '-updatedAt'),
      search: z.string().max(500).optional(),
      stateOneOf: oneOrMore(jobState).optional(),
    })
    const list = (path: string, querystring: typeof byDate | typeof jobs) =>
      app.get(path, { config: manage, schema: { tags, querystring, response: { 200: empty } } }, async () => NOTHING)
    list('/api/v1/runners', byDate)
    list('/api/v1/runners/registration-tokens', byDate)
    list('/api/v1/runners/jobs', jobs)
    addAdministration(app)
    addProtocol(app)
  }
}

function addAdministration(app: App): void {
  const schema = { tags, response }
  app.post('/api/v1/runners/registration-tokens/generate', { config: manage, schema }, async () => {
    throw new DomainError('invalid', 'This version of the server does not support remote runners.')
  })
  app.delete(
    '/api/v1/runners/registration-tokens/:registrationTokenId',
    { config: manage, schema: { ...schema, params: z.object({ registrationTokenId: idText }) } },
    async () => {
      throw notFound('Registration token not found')
    },
  )
  app.delete('/api/v1/runners/:runnerId', { config: manage, schema: { ...schema, params: z.object({ runnerId: idText }) } }, async () => {
    throw notFound('Runner not found')
  })
  const ofJob = { config: manage, schema: { ...schema, params: jobParams } }
  const unknownJob = async (): Promise<never> => {
    throw notFound('Unknown runner job')
  }
  app.delete('/api/v1/runners/jobs/:jobUUID', ofJob, unknownJob)
  app.post('/api/v1/runners/jobs/:jobUUID/cancel', ofJob, unknownJob)
}

/** Requests of runners. */
function addProtocol(app: App): void {
  const newRunner = z.object({
    registrationToken: token,
    name: z.string().min(1).max(100),
    description: z.string().min(1).max(1000).nullish(),
  })
  app.post('/api/v1/runners/register', { schema: { tags, body: newRunner } }, async () => {
    throw notFound('Registration token is invalid')
  })
  const unknownRunner = async (): Promise<never> => {
    throw notFound('Unknown runner token', 'unknown_runner_token')
  }
  app.post('/api/v1/runners/unregister', { schema: { tags, body: runnerBody } }, unknownRunner)
  const wanted = runnerBody.extend({ jobTypes: z.array(z.string().max(100)).max(100).optional() })
  app.post('/api/v1/runners/jobs/request', { schema: { tags, body: wanted } }, unknownRunner)
  app.post('/api/v1/runners/jobs/:jobUUID/accept', { schema: { tags, params: jobParams, body: runnerBody } }, unknownRunner)
}
