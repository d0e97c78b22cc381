// A remote runner: asks a server for jobs, does them with the media code of this program, and sends the results.

import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Ffmpeg, isDiskFull, MediaError, type MediaErrorReason, type RunLimits } from '../media/index.ts'
import type { Logger } from '../platform/logger.ts'
import { makeBackOff } from './back-off.ts'
import { JOB_PREFIX, openFolder } from './folder.ts'
import { kinds } from './kinds.ts'
import { type AcceptedJob, insist, isFinal, isUnreachable, type Protocol } from './protocol.ts'

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

/** Errors of this machine, for which no job is to blame. */
const TRANSIENT: readonly MediaErrorReason[] = ['ffmpeg-missing', 'memory']

/** Works until the signal; then gives back what runs. Throws if the server does not know the runner, or another one has the folder. */
export async function runRemoteRunner(options: RunnerOptions): Promise<void> {
  const { protocol, runnerToken, concurrency, requestEvery, folder, logger, signal } = options
  const own = await openFolder(folder)
  const backOff = makeBackOff({ now: () => performance.now(), firstRest: requestEvery })
  const running = new Set<Promise<void>>()
  try {
    while (!signal.aborted) {
      const isFull = running.size >= concurrency
      const job = isFull ? undefined : await next()
      if (job) {
        const work: Promise<void> = perform(options, job)
          .then((isDone) => (isDone ? backOff.done(job.uuid) : backOff.failed(job.uuid)))
          .finally(() => running.delete(work))
        running.add(work)
      } else await Promise.race([pause(requestEvery, signal), ...(isFull ? running : [])])
    }
  } finally {
    await Promise.all(running)
    await own.close()
  }

  /** The first job that no other runner accepts earlier. */
  async function next(): Promise<AcceptedJob | undefined> {
    try {
      const offered = await protocol.request(runnerToken, Object.keys(kinds))
      if (backOff.isResting()) return undefined
      for (const { uuid } of offered.filter((job) => !backOff.isLeft(job.uuid))) {
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

/** Returns false if the job failed, or could not be done on this machine. */
async function perform(options: RunnerOptions, job: AcceptedJob): Promise<boolean> {
  const { protocol, runnerToken, ffmpeg, limits, threads, reportEvery, logger } = options
  const log = logger.child({ job: job.uuid, type: job.type })
  const reports = protocol.ofJob(runnerToken, job)
  const lost = new AbortController()
  const signal = AbortSignal.any([options.signal, lost.signal])
  const folder = await mkdtemp(join(options.folder, JOB_PREFIX))
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
    return true
  } catch (error) {
    return await giveUp(error)
  } finally {
    clearInterval(reporting)
    await rm(folder, { recursive: true, force: true })
  }

  async function giveUp(error: unknown): Promise<boolean> {
    const message = error instanceof Error ? error.message : String(error)
    if (lost.signal.aborted) {
      log.warn('the job was lost or cancelled')
      return true
    }
    const isEnd = options.signal.aborted
    log.warn({ err: error }, isEnd ? 'job given back' : 'job failed')
    const report = isEnd || isTransient(error) ? reports.abort(isEnd ? 'The runner ends.' : message) : reports.error(message)
    await report.catch((cause: unknown) => log.warn({ err: cause }, 'the end of a job could not be reported'))
    return isEnd
  }
}

/** True for what another runner can do, or this one later. */
const isTransient = (error: unknown): boolean =>
  isUnreachable(error) || isDiskFull(error) || (error instanceof MediaError && TRANSIENT.includes(error.reason))

const pause = (ms: number, signal: AbortSignal): Promise<void> => wait(ms, undefined, { signal }).catch(() => undefined)
