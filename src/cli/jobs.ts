// `vireo jobs`: the queue of jobs for the operator, beside a running server or without one.

import { type Command, InvalidArgumentError, Option } from 'commander'
import { type JobState, jobStates, type ListedJob } from '../actors/job-queue/index.ts'
import { JOB_TYPE_NAMES, type JobTypeName, type LoadedConfig } from '../config/index.ts'
import { operate } from './operate.ts'

interface ListOptions {
  state?: JobState
  type?: JobTypeName
  start: number
  count: number
  json?: boolean
}

const MOST = 1000
const JSON_TEXT = ['--json', 'print JSON'] as const

export function addJobs(program: Command, load: () => LoadedConfig): void {
  const jobs = program.command('jobs').description('look at the queue of jobs, and steer it')

  jobs
    .command('list', { isDefault: true })
    .description('jobs, deliveries and activities of others, the newest first')
    .addOption(new Option('--state <state>', 'those in this state alone').choices(jobStates))
    .addOption(new Option('--type <type>', 'those of this type alone').choices(JOB_TYPE_NAMES))
    .option('--start <number>', 'how many to pass over', parseNumber, 0)
    .option('--count <number>', `how many to print, ${MOST} at most`, parseNumber, 20)
    .option(...JSON_TEXT)
    .action(async ({ json, ...query }: ListOptions) => {
      await operate(load(), async (operator) => {
        const [state, { total, rows }] = await Promise.all([
          operator.jobs.state(),
          operator.jobs.list({ ...query, count: Math.min(query.count, MOST), descending: true }),
        ])
        if (json) return print({ queue: state, total, jobs: rows })
        console.log(`The queue is ${state}. ${rows.length} of ${total}:`)
        for (const job of rows) console.log(lineOf(job))
      })
    })

  jobs
    .command('show')
    .description('all that is known of one job')
    .argument('<id>', 'as the list has it: 17, delivery-17, inbox-17')
    .option(...JSON_TEXT)
    .action(async (id: string, { json }: { json?: boolean }) => {
      await operate(load(), async (operator) => {
        const job = await operator.jobs.find(id)
        if (!job) throw new Error('This job does not exist.')
        if (json) return print(job)
        for (const [name, value] of Object.entries(job)) console.log(`${name}: ${textOf(value)}`)
      })
    })

  jobs
    .command('retry')
    .description('give one that failed another try')
    .argument('<id>', 'as the list has it: 17, delivery-17, inbox-17')
    .option(...JSON_TEXT)
    .action(async (id: string, { json }: { json?: boolean }) => {
      await operate(load(), async (operator) => {
        await operator.jobs.retry(id)
        if (json) return print({ id, retried: true })
        console.log(`Job ${id} is tried again.`)
      })
    })

  for (const [move, description, said] of [
    ['pause', 'start no job in any process; those that run are finished', 'The queue is paused.'],
    ['resume', 'start jobs again', 'The queue is running.'],
  ] as const) {
    jobs
      .command(move)
      .description(description)
      .option(...JSON_TEXT)
      .action(async ({ json }: { json?: boolean }) => {
        await operate(load(), async (operator) => {
          await operator.jobs[move]()
          if (json) return print({ queue: await operator.jobs.state() })
          console.log(said)
        })
      })
  }
}

const print = (value: unknown): void => console.log(JSON.stringify(value, null, 2))

function lineOf({ id, state, type, createdAt, progress, error, data }: ListedJob): string {
  const about = Object.entries(data).map(([name, value]) => `${name}=${textOf(value)}`)
  const isUnderWay = state === 'active' && progress > 0
  return [
    ...[id, state, type, createdAt.toISOString(), ...about],
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
