// A remote runner: asks a server for jobs, does them with the media code of this program, and sends the results.

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Ffmpeg, RunLimits } from '../media/index.ts'
import type { Logger } from '../platform/logger.ts'
import { kinds } from './kinds.ts'
import { type AcceptedJob, insist, isFinal, type Protocol } from './protocol.ts'

export interface RunnerOptions {
  protocol: Protocol
  runnerToken: string
  ffmpeg: Ffmpeg
  limits: RunLimits
  /** Of one ffmpeg; 0: ffmpeg decides. */
  threads: number
  /** Jobs at once. */
  concurrency: number
  /** Between two requests for jobs, and between two reports of a job, in ms. */
  requestEvery: number
  reportEvery: number
  /** For the files of jobs, in a folder for each. */
  folder: string
  logger: Logger
  /** Ends the runner: jobs that run are given back. */
  signal: AbortSignal
}

/** Works until the signal; then gives back what runs. Throws if the server does not know the runner. */
export async function runRemoteRunner(options: RunnerOptions): Promise<void> {
  const { protocol, runnerToken, concurrency, requestEvery, folder, logger, signal } = options
  await mkdir(folder, { recursive: true })
  const running = new Set<Promise<void>>()
  while (!signal.aborted) {
    const isFull = running.size >= concurrency
    const job = isFull ? undefined : await next()
    if (job) {
      const work: Promise<void> = perform(options, job).finally(() => running.delete(work))
      running.add(work)
    } else await Promise.race([pause(requestEvery, signal), ...(isFull ? running : [])])
  }
  await Promise.all(running)

  /** The first job that no other runner accepts earlier. */
  async function next(): Promise<AcceptedJob | undefined> {
    try {
      for (const { uuid } of await protocol.request(runnerToken, Object.keys(kinds))) {
        const accepted = await protocol.accept(runnerToken, uuid).catch((error: unknown) => {
          if (isFinal(error)) return undefined
          throw error
        })
        if (accepted) return accepted
      }
    } catch (error) {
      if (isFinal(error)) throw error
      logger.warn({ err: error }, 'the server cannot be asked for jobs')
    }
    return undefined
  }
}

async function perform(options: RunnerOptions, job: AcceptedJob): Promise<void> {
  const { protocol, runnerToken, ffmpeg, limits, threads, reportEvery, logger } = options
  const log = logger.child({ job: job.uuid, type: job.type })
  const reports = protocol.ofJob(runnerToken, job)
  const lost = new AbortController()
  const signal = AbortSignal.any([options.signal, lost.signal])
  const folder = await mkdtemp(join(options.folder, 'job-'))
  let percent = 0
  const reporting = setInterval(() => {
    reports.update(percent).catch((error: unknown) => {
      if (isFinal(error)) lost.abort(error)
    })
  }, reportEvery)
  log.info('job accepted')
  try {
    const progress = (made: number): void => {
      percent = made
    }
    const make = kinds[job.type]
    if (!make) throw new Error(`This runner does not know the work "${job.type}".`)
    const files = await make(job, reports, { ffmpeg, limits, threads, folder, signal, progress })
    signal.throwIfAborted()
    await insist(() => reports.success(files))
    log.info('job done')
  } catch (error) {
    await giveUp(error)
  } finally {
    clearInterval(reporting)
    await rm(folder, { recursive: true, force: true })
  }

  async function giveUp(error: unknown): Promise<void> {
    const message = error instanceof Error ? error.message : String(error)
    if (lost.signal.aborted) return log.warn('the job was lost or cancelled')
    log.warn({ err: error }, options.signal.aborted ? 'job given back' : 'job failed')
    const report = options.signal.aborted ? reports.abort('The runner ends.') : reports.error(message)
    await report.catch((cause: unknown) => log.warn({ err: cause }, 'the end of a job could not be reported'))
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => wait(ms, undefined, { signal }).catch(() => undefined)
