// The public protocol of remote runners, from the side of the runner.

import { createWriteStream, openAsBlob } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'

const job = z.object({ uuid: z.string(), type: z.string(), payload: z.record(z.string(), z.unknown()) })
export type OfferedJob = z.infer<typeof job>

export interface AcceptedJob extends OfferedJob {
  jobToken: string
}

/** An answer that is not a success. */
class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** True if the runner does not have the job any more, or the server does not know the runner. */
export const isFinal = (error: unknown): boolean =>
  error instanceof Refused && error.status >= 400 && error.status < 500 && error.status !== 429

/** True if another runner is registered with the name. */
export const isNameTaken = (error: unknown): boolean =>
  error instanceof Refused && error.status === 400 && /already exists/i.test(error.message)

/** True if the server could not be asked, or cannot answer now. */
export const isUnreachable = (error: unknown): boolean =>
  error instanceof Refused ? !isFinal(error) : error instanceof TypeError && error.message === 'fetch failed'

const SENDS = 4

/** Sends again what fails for now. Throws the last error, or a final one. */
export async function insist(send: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send()
    } catch (error) {
      if (attempt === SENDS || isFinal(error)) throw error
      await wait(attempt * 1_000)
    }
  }
}

export interface Protocol {
  register(registrationToken: string, runner: { name: string; description: string }): Promise<string>
  unregister(runnerToken: string): Promise<void>
  request(runnerToken: string, jobTypes: readonly string[]): Promise<OfferedJob[]>
  accept(runnerToken: string, uuid: string): Promise<AcceptedJob>
  /** Reports of a job. Throws `Refused` if it is lost. */
  ofJob(runnerToken: string, accepted: AcceptedJob): JobReports
}

/** What a runner says of a piece of a live. */
export interface PartReport {
  type: 'add-chunk' | 'remove-chunk'
  videoChunkFilename: string
  resolutionPlaylistFilename: string
}

export interface JobReports {
  update(progress: number): Promise<void>
  /** A part of the result, with its files by the field of the payload. */
  part(report: PartReport, files: Readonly<Record<string, Blob>>): Promise<void>
  abort(reason: string): Promise<void>
  error(message: string): Promise<void>
  /** Paths of the files by the field of the payload. */
  success(files: Readonly<Record<string, string>>): Promise<void>
  /** Downloads an input file. */
  download(url: string, path: string, signal: AbortSignal): Promise<void>
}

/** Characters of an error that the protocol takes. */
const MAX_TEXT = 5000

export function makeProtocol({ server, version }: { server: string; version: string }): Protocol {
  const address = (path: string): URL => new URL(`/api/v1/runners/${path}`, server)

  /** A server may call itself by another address than the one that this runner reaches. The tokens of a job go nowhere else. */
  function here(url: string): URL {
    const { pathname, search } = new URL(url)
    return Object.assign(new URL(server), { pathname, search })
  }

  async function send(path: string, body: Record<string, unknown> | FormData): Promise<unknown> {
    const isForm = body instanceof FormData
    const response = await fetch(address(path), {
      method: 'POST',
      ...(isForm ? { body } : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return await answerOf(response)
  }

  return {
    async register(registrationToken, { name, description }) {
      const answer = await send('register', { registrationToken, name, description, version })
      return z.object({ runnerToken: z.string() }).parse(answer).runnerToken
    },
    async unregister(runnerToken) {
      await send('unregister', { runnerToken })
    },
    async request(runnerToken, jobTypes) {
      const answer = await send('jobs/request', { runnerToken, jobTypes, version })
      return z.object({ availableJobs: z.array(job) }).parse(answer).availableJobs
    },
    async accept(runnerToken, uuid) {
      const answer = await send(`jobs/${uuid}/accept`, { runnerToken })
      return z.object({ job: job.extend({ jobToken: z.string() }) }).parse(answer).job
    },

    ofJob(runnerToken, { uuid, jobToken }) {
      const tokens = { runnerToken, jobToken }
      return {
        update: async (progress) => void (await send(`jobs/${uuid}/update`, { ...tokens, progress: Math.round(progress) })),
        abort: async (reason) => void (await send(`jobs/${uuid}/abort`, { ...tokens, reason: shortened(reason) })),
        error: async (message) => void (await send(`jobs/${uuid}/error`, { ...tokens, message: shortened(message) })),
        part: async (report, files) => void (await send(`jobs/${uuid}/update`, formOf(tokens, { ...report }, files))),
        async success(files) {
          const blobs: Record<string, Blob> = {}
          for (const [field, path] of Object.entries(files)) blobs[field] = await openAsBlob(path)
          await send(`jobs/${uuid}/success`, formOf(tokens, {}, blobs))
        },
        async download(url, path, signal) {
          const headers = { 'content-type': 'application/json' }
          const response = await fetch(here(url), { method: 'POST', headers, body: JSON.stringify(tokens), redirect: 'follow', signal })
          if (!response.ok || !response.body) await answerOf(response)
          else await pipeline(response.body, createWriteStream(path), { signal })
        },
      }
    },
  }
}

const shortened = (text: string): string => text.slice(0, MAX_TEXT) || 'Failed.'

type Fields = Readonly<Record<string, string>>

/** The tokens come first: a server may refuse files before it knows them. */
function formOf(tokens: Fields, payload: Fields, files: Readonly<Record<string, Blob>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(tokens)) form.set(name, value)
  for (const [name, value] of Object.entries(payload)) form.set(`payload[${name}]`, value)
  for (const [field, file] of Object.entries(files)) form.set(`payload[${field}]`, file, field)
  return form
}

async function answerOf(response: Response): Promise<unknown> {
  const text = await response.text()
  if (!response.ok) throw new Refused(response.status, `${response.status}: ${detailOf(text)}`)
  return text === '' ? undefined : JSON.parse(text)
}

function detailOf(text: string): string {
  try {
    return z.object({ detail: z.string() }).parse(JSON.parse(text)).detail
  } catch {
    return text.slice(0, 200)
  }
}
