// Whether the job queue is paused (machine `job-queue`).

import { defineEntity, p } from '@mikro-orm/postgresql'

export const JobQueue = defineEntity({
  name: 'JobQueue',
  tableName: 'job_queue',
  properties: {
    id: p.integer().primary(),
    state: p.text(),
    updatedAt: p.datetime(3),
  },
})
