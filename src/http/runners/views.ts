// Runners, their registration tokens and their jobs, as clients read them.

import { z } from 'zod'
import type { RegistrationTokenRow, RemoteWorks, RunnerJob, RunnerJobRow, RunnerRow } from '../../actors/runner/index.ts'
import { runnerJobStates } from '../../actors/runner/index.ts'

const moment = z.iso.datetime()
const iso = (moment: string | Date): string => new Date(moment).toISOString()

export const runnerView = z
  .object({
    id: z.int(),
    name: z.string(),
    description: z.string().nullable(),
    ip: z.string(),
    lastContact: moment,
    createdAt: moment,
    updatedAt: moment,
  })
  .meta({ id: 'Runner' })

export const toRunnerView = (row: RunnerRow): z.infer<typeof runnerView> => ({
  id: row.id,
  name: row.name,
  description: row.description,
  ip: row.ip,
  lastContact: iso(row.last_contact),
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
})

/** In addition to the contract. */
export const workingRunnerView = runnerView
  .extend({ version: z.string().nullable(), jobs: z.int().meta({ description: 'That it has now.' }), failures: z.int() })
  .meta({ id: 'WorkingRunner' })

export const toWorkingRunnerView = (row: RunnerRow): z.infer<typeof workingRunnerView> => ({
  ...toRunnerView(row),
  version: row.version,
  jobs: row.jobs,
  failures: row.failures,
})

export const registrationTokenView = z
  .object({
    id: z.int(),
    registrationToken: z.string(),
    createdAt: moment,
    updatedAt: moment,
    registeredRunnersCount: z.int(),
  })
  .meta({ id: 'RunnerRegistrationToken' })

export const toRegistrationTokenView = (row: RegistrationTokenRow, token: string): z.infer<typeof registrationTokenView> => ({
  id: row.id,
  registrationToken: token,
  createdAt: iso(row.created_at),
  updatedAt: iso(row.updated_at),
  registeredRunnersCount: row.runners,
})

const state = z.object({ id: z.int().min(1).max(9), label: z.string() })
const document = z.record(z.string(), z.unknown())
const offered = { uuid: z.uuid(), type: z.string(), payload: document.meta({ description: 'Input, output and tasks, by the type.' }) }

export const offeredJobView = z.object(offered)

const job = z.object({
  ...offered,
  state,
  progress: z.number().nullable().meta({ description: 'Percent; null unless a runner has reported it.' }),
  priority: z.int().meta({ description: 'Lower goes first.' }),
  failures: z.int(),
  error: z.string().nullable(),
  startedAt: moment.optional(),
  finishedAt: moment.optional(),
  createdAt: moment,
  updatedAt: moment,
  runner: z.object({ id: z.int(), name: z.string(), description: z.string().nullable() }).nullable(),
  parent: z.object({ type: z.string(), state, uuid: z.uuid() }).optional(),
})

export const acceptedJobView = job.extend({ jobToken: z.string() }).meta({ id: 'AcceptedRunnerJob' })
export const runnerJobView = job.extend({ privatePayload: document }).meta({ id: 'RunnerJobAdmin' })

/** Views of jobs; `origin` is that of this server. */
export function makeJobViews({ works, origin }: { works: RemoteWorks; origin: string }) {
  const payloadOf = (of: RunnerJob, jobToken?: string): Record<string, unknown> =>
    works.of(of.type)?.payload(of, (file) => `${origin}/api/v1/runners/jobs/${of.uuid}/files/videos/${of.data.video}/${file}`, jobToken) ??
    {}

  const jobOf = (row: RunnerJobRow, jobToken?: string): z.infer<typeof job> => ({
    uuid: row.uuid,
    type: row.type,
    state: runnerJobStates[row.state],
    progress: row.finished_at === null && row.progress > 0 ? row.progress : null,
    priority: row.priority,
    failures: row.failures,
    error: row.error,
    payload: payloadOf(row, jobToken),
    ...(row.started_at === null ? {} : { startedAt: iso(row.started_at) }),
    ...(row.finished_at === null ? {} : { finishedAt: iso(row.finished_at) }),
    createdAt: iso(row.created_at),
    updatedAt: iso(row.updated_at),
    runner: row.runner,
    ...(row.parent === null ? {} : { parent: { ...row.parent, state: runnerJobStates[row.parent.state] } }),
  })

  return {
    offered: (of: RunnerJob): z.infer<typeof offeredJobView> => ({ uuid: of.uuid, type: of.type, payload: payloadOf(of) }),
    accepted: (row: RunnerJobRow, jobToken: string): z.infer<typeof acceptedJobView> => ({
      ...jobOf(row, jobToken),
      jobToken,
    }),
    listed: (row: RunnerJobRow): z.infer<typeof runnerJobView> => ({
      ...jobOf(row),
      privatePayload: works.of(row.type)?.privatePayload(row) ?? {},
    }),
  }
}
