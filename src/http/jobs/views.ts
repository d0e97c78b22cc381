// Jobs as administrators read them.

import { z } from 'zod'
import { jobStates, type ListedJob } from '../../actors/job-queue/index.ts'

export const jobView = z
  .object({
    id: z.string(),
    state: z.enum(jobStates),
    type: z.string(),
    isRemote: z.literal(true).optional().meta({ description: 'It is done by remote runners; left out for others.' }),
    data: z.record(z.string(), z.unknown()).meta({ description: 'Ids and addresses of what it is about.' }),
    progress: z.number().meta({ description: 'Percent.' }),
    error: z.string().nullable(),
    priority: z.int().optional().meta({ description: 'Lower goes first; left out where it is 0.' }),
    attempts: z.int().optional().meta({ description: 'Tries that failed; left out where none did.' }),
    createdAt: z.iso.datetime(),
    processedOn: z.iso.datetime().nullable().meta({ description: 'When the last try began.' }),
    finishedOn: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Job' })

export const toJobView = (job: ListedJob): z.infer<typeof jobView> => ({
  id: job.id,
  state: job.state,
  type: job.type,
  ...(job.isRemote ? { isRemote: true } : {}),
  data: job.data,
  progress: job.progress,
  error: job.error,
  ...(job.priority === 0 ? {} : { priority: job.priority }),
  ...(job.attempts === 0 ? {} : { attempts: job.attempts }),
  createdAt: job.createdAt.toISOString(),
  processedOn: job.startedAt?.toISOString() ?? null,
  finishedOn: job.finishedAt?.toISOString() ?? null,
})
