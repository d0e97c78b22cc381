// `vireo jobs`: the queue of jobs for the operator, with or without a running server.

import { InvalidArgumentError, Option } from 'commander'
import { type JobState, jobStates, type ListedJob } from '../actors/job-queue/index.ts'
import { JOB_TYPE_NAMES, type JobTypeName } from '../config/index.ts'
import type { Tools } from './family.ts'
import { operate } from './operate.ts'

interface ListOptions {
  state?: JobState
  type?: JobTypeName
  start: number
  count: number
}

const MOST = 1000

export function jobCommands({ program, load, out }: Tools): void {
  const jobs = program.command('jobs').description('look at the queue of jobs, and steer it')

  jobs
    .command('list', { isDefault: true })
    .description('jobs, deliveries and activities of others, the newest first')
    .addOption(new Option('--state <state>', 'those in this state alone').choices(jobStates))
    .addOption(new Option('--type <type>', 'those of this type alone').choices(JOB_TYPE_NAMES))
    .option('--start <number>', 'how many to pass over', parseNumber, 0)
    .option('--count <number>', `how many to print, ${MOST} at most`, parseNumber, 20)
    .action(async (query: ListOptions) => {
      await operate(load(), async (operator) => {
        const [state, { total, rows }] = await Promise.all([
          operator.jobs.state(),
          operator.jobs.list({ ...query, count: Math.min(query.count, MOST), descending: true }),
        ])
        out.answer({ queue: state, total, jobs: rows }, [`The queue is ${state}. ${rows.length} of ${total}:`, ...rows.map(lineOf)])
      })
    })

  jobs
    .command('show')
    .description('all that is known of one job')
    .argument('<id>', 'as the list has it: 17, delivery-17, inbox-17')
    .action(async (id: string) => {
      await operate(load(), async (operator) => {
        const job = await operator.jobs.find(id)
        if (!job) throw new Error('This job does not exist.')
        out.answer(
          job,
          Object.entries(job).map(([name, value]) => `${name}: ${textOf(value)}`),
        )
      })
    })

  jobs
    .command('retry')
    .description('give one that failed another try')
    .argument('<id>', 'as the list has it: 17, delivery-17, inbox-17')
    .action(async (id: string) => {
      await operate(load(), async (operator) => {
        await operator.jobs.retry(id)
        out.answer({ id, retried: true }, `Job ${id} is tried again.`)
      })
    })

  for (const [move, description, said] of [
    ['pause', 'start no job in any process; those that run are finished', 'The queue is paused.'],
    ['resume', 'start jobs again', 'The queue is running.'],
  ] as const) {
    jobs
      .command(move)
      .description(description)
      .action(async () => {
        await operate(load(), async (operator) => {
          await operator.jobs[move]()
          out.answer({ queue: await operator.jobs.state() }, said)
        })
      })
  }
}

function lineOf({ id, state, type, createdAt, progress, error, data }: ListedJob): string {
  const about = Object.entries(data).map(([name, value]) => `${name}=${textOf(value)}`)
  const isUnderWay = state === 'active' && progress > 0
  return [
    id,
    state,
    type,
    createdAt.toISOString(),
    ...about,
    ...(isUnderWay ? [`${Math.round(progress)} %`] : []),
    ...(error === null ? [] : [`error: ${error.split('\n')[0]}`]),
  ].join('  ')
}

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (value === null) return '-'
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function parseNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is a number.')
  return Number(text)
}
