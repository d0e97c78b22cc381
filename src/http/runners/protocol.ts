// The protocol of remote runners. Their tokens are in the body; a known token passes the limits of the API, an unknown one counts.

import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type KnownRunner, type Leased, listOfferedJobs, resultFields } from '../../actors/runner/index.ts'
import { DomainError, type InvalidParam, notFound } from '../../actors/runtime/index.ts'
import { clientIp } from '../plugins/client-ip.ts'
import { MAX_FIELDS_BYTES } from '../plugins/form-fields.ts'
import { addFormRoutes, type FormFile, withForm } from '../plugins/multipart.ts'
import { type IdOrUuid, idOrUuid } from '../plugins/schemas.ts'
import type { App } from '../plugins/types.ts'
import { PRIVATE_FILE } from '../static/caching.ts'
import { redirectToSignedStorage } from '../static/redirect-to-storage.ts'
import { serveFile } from '../static/serve-file.ts'
import { toFile } from '../uploads/form-files.ts'
import type { RunnersAreaDeps } from './deps.ts'
import { acceptedJobView, type makeJobViews, offeredJobView } from './views.ts'

type Deps = RunnersAreaDeps & { views: ReturnType<typeof makeJobViews> }

const ofJobs = ['Runner Jobs']
const text = (max: number) => z.string().min(1).max(max)
const token = text(1000)
const version = z.string().max(100).optional()
const runnerBody = z.object({ runnerToken: token })
const jobBody = runnerBody.extend({ jobToken: token })
/** The rest is in files. */
const payload = z.object({ inputLanguage: z.string().max(100).optional() })
const jobParams = z.object({ jobUUID: z.uuid() })
const done = { 204: z.null() }
/** No limits before the token is known. */
const unlimited = { limits: false } as const

export function addProtocol(app: App, deps: Deps): void {
  const { db, config, runners, runnerJobs, works, views } = deps

  /** The runner that sent the request. Unknown tokens count like other requests of their address. */
  async function runnerOf(request: FastifyRequest, reply: FastifyReply, sent: { runnerToken: string; version?: string | undefined }) {
    try {
      return await runners.identify(sent.runnerToken, { ip: clientIp(request), version: sent.version })
    } catch (error) {
      await app.rateLimits.take('api', request, reply)
      throw error
    }
  }

  async function leasedBy(
    request: FastifyRequest,
    reply: FastifyReply,
    sent: { jobUUID: string; runnerToken: string; jobToken: string },
  ): Promise<Leased> {
    return await runnerJobs.leased(await runnerOf(request, reply, sent), sent.jobUUID, sent.jobToken)
  }

  app.post(
    '/api/v1/runners/register',
    {
      schema: {
        tags: ['Runners'],
        body: z.object({ registrationToken: token, name: text(100), description: text(1000).nullish(), version }),
        response: { 200: z.object({ id: z.int(), runnerToken: z.string() }) },
      },
    },
    async (request) => {
      const { registrationToken, name, description = null, version } = request.body
      return await runners.register({ registrationToken, name, description, contact: { ip: clientIp(request), version } })
    },
  )

  app.post(
    '/api/v1/runners/unregister',
    { config: unlimited, schema: { tags: ['Runners'], body: runnerBody, response: done } },
    async (request, reply) => {
      const { id }: KnownRunner = await runnerOf(request, reply, request.body)
      await runners.remove(id)
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/api/v1/runners/jobs/request',
    {
      config: unlimited,
      schema: {
        tags: ofJobs,
        body: runnerBody.extend({ jobTypes: z.array(z.string().max(100)).max(100).optional(), version }),
        response: { 200: z.object({ availableJobs: z.array(offeredJobView) }) },
      },
    },
    async (request, reply) => {
      await runnerOf(request, reply, request.body)
      const types = request.body.jobTypes ?? works.types()
      const jobs = await listOfferedJobs(db, { types, count: config().vireo.runners.jobs_per_request })
      return { availableJobs: jobs.map(views.offered) }
    },
  )

  app.post(
    '/api/v1/runners/jobs/:jobUUID/accept',
    {
      config: unlimited,
      schema: { tags: ofJobs, params: jobParams, body: runnerBody, response: { 200: z.object({ job: acceptedJobView }) } },
    },
    async (request, reply) => {
      const runner = await runnerOf(request, reply, request.body)
      const { job, jobToken } = await runnerJobs.accept(runner, request.params.jobUUID)
      return { job: views.accepted(job, jobToken) }
    },
  )

  app.post(
    '/api/v1/runners/jobs/:jobUUID/abort',
    { config: unlimited, schema: { tags: ofJobs, params: jobParams, body: jobBody.extend({ reason: text(5000) }), response: done } },
    async (request, reply) => {
      await runnerJobs.abort(await leasedBy(request, reply, { ...request.params, ...request.body }), request.body.reason)
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/api/v1/runners/jobs/:jobUUID/error',
    { config: unlimited, schema: { tags: ofJobs, params: jobParams, body: jobBody.extend({ message: text(5000) }), response: done } },
    async (request, reply) => {
      await runnerJobs.fail(await leasedBy(request, reply, { ...request.params, ...request.body }), request.body.message)
      return reply.code(204).send(null)
    },
  )

  addFormRoutes(app, (forms) => addReports(forms, { ...deps, leasedBy }))
  addInputs(app, { ...deps, leasedBy })
}

type WithLease = Deps & {
  leasedBy(request: FastifyRequest, reply: FastifyReply, sent: { jobUUID: string; runnerToken: string; jobToken: string }): Promise<Leased>
}

const partOf = <F extends string>(field: F) => `payload[${field}]` as const

/** Files that come with a report, by their field in the form. The playlists are read from the pieces themselves. */
const partFields = ['videoChunkFile', 'masterPlaylistFile', 'resolutionPlaylistFile'] as const
const MAX_PLAYLIST_BYTES = 1024 * 1024

const updateBody = jobBody.extend({
  progress: z.int().min(0).max(100).nullish(),
  payload: z
    .object({
      type: z.enum(['add-chunk', 'remove-chunk']).optional(),
      videoChunkFilename: z.string().max(100).optional(),
      resolutionPlaylistFilename: z.string().max(100).optional(),
    })
    .optional(),
})
const resultBody = jobBody.extend({ payload: payload.optional() })

/** Reports with files: parts of a result, and results. */
function addReports(app: App, deps: WithLease): void {
  const { runnerJobs } = deps
  const options = (body: z.ZodObject, files: readonly string[]) => ({
    config: { ...unlimited, form: { fields: body, json: body, files: files.map(partOf) } },
    schema: { tags: ofJobs, params: jobParams, response: done },
  })

  app.post('/api/v1/runners/jobs/:jobUUID/update', options(updateBody, partFields), async (request, reply) => {
    const form = {
      kind: 'part' as const,
      fields: updateBody,
      files: partFields,
      limitsOf: async ({ job, work }: Leased) => ({
        masterPlaylistFile: MAX_PLAYLIST_BYTES,
        resolutionPlaylistFile: MAX_PLAYLIST_BYTES,
        ...(work.parts ? { videoChunkFile: work.parts.mostBytes(job) } : {}),
      }),
    }
    await withJobForm({ request, reply, form, ...deps }, async ({ leased, fields: { progress, payload: sent }, files }) => {
      if (sent?.type === 'add-chunk') {
        const { videoChunkFile: path } = files
        const { videoChunkFilename: name } = sent
        if (path === undefined || name === undefined) throw new DomainError('invalid', 'Payload is invalid')
        await runnerJobs.takePart(leased, { name, path }, request.signal)
      }
      await runnerJobs.update(leased, progress ?? undefined)
    })
    return reply.code(204).send(null)
  })

  app.post('/api/v1/runners/jobs/:jobUUID/success', options(resultBody, resultFields), async (request, reply) => {
    const limitsOf = ({ job, work }: Leased) => work.results(job)
    const form = { kind: 'result' as const, fields: resultBody, files: resultFields, limitsOf }
    await withJobForm({ request, reply, form, ...deps }, async ({ leased, fields: { payload: sent }, files }) => {
      const wanted = Object.keys(await limitsOf(leased))
      if (wanted.some((field) => !(field in files))) throw new DomainError('invalid', 'Payload is invalid')
      await runnerJobs.succeed(leased, { files, language: sent?.inputLanguage })
    })
    return reply.code(204).send(null)
  })
}

interface JobForm<S extends z.ZodType<z.infer<typeof jobBody>>, F extends string> extends WithLease {
  request: FastifyRequest<{ Params: z.infer<typeof jobParams> }>
  reply: FastifyReply
  form: {
    kind: 'part' | 'result'
    fields: S
    files: readonly F[]
    /** The most bytes of each file that the job takes. */
    limitsOf(leased: Leased): Promise<Partial<Record<F, number>>>
  }
}

/** Runs `use` with the form of a report. The tokens come before the files: nothing is written for strangers, nor more than the job allows. */
async function withJobForm<S extends z.ZodType<z.infer<typeof jobBody>>, F extends string>(
  { request, reply, form, runnerJobs, leasedBy }: JobForm<S, F>,
  use: (sent: { leased: Leased; fields: z.output<S>; files: Partial<Record<F, string>> }) => Promise<void>,
): Promise<void> {
  const { jobUUID } = request.params
  let lease: Leased | undefined
  let place: Awaited<ReturnType<typeof runnerJobs.beginTransfer>> | undefined
  let limits: Partial<Record<F, number>> = {}

  async function open(field: F, sent: (name: string) => string | undefined) {
    if (!lease || !place) {
      const tokens = jobBody.safeParse({ runnerToken: sent('runnerToken'), jobToken: sent('jobToken') })
      if (!tokens.success) throw new DomainError('invalid', 'The tokens come before the files.')
      lease = await leasedBy(request, reply, { jobUUID, ...tokens.data })
      limits = await form.limitsOf(lease)
      const most = Object.values<number | undefined>(limits).reduce<number>((sum, bytes = 0) => sum + bytes, MAX_FIELDS_BYTES)
      if (Number(request.headers['content-length']) > most) throw tooLarge(most)
      place = await runnerJobs.beginTransfer(lease, form.kind)
    }
    const { signal } = place
    signal.throwIfAborted()
    if (limits[field] === undefined) throw unexpected(field)
    const path = join(place.folder, field)
    const file = toFile(path, { left: Number.POSITIVE_INFINITY })
    signal.addEventListener('abort', () => file.writable.destroy(signal.reason))
    return { ...file, value: path }
  }

  const files = Object.fromEntries(
    form.files.map((field): [string, FormFile<string>] => [
      partOf(field),
      {
        // Read once the file is open.
        get maxBytes() {
          return limits[field] ?? Number.POSITIVE_INFINITY
        },
        open: (_part, sent) => open(field, sent),
      },
    ]),
  )
  try {
    await withForm(request, { fields: form.fields, files }, async ({ fields, files }) => {
      const leased = lease ?? (await leasedBy(request, reply, { jobUUID, ...fields }))
      const received = form.files.flatMap((field) => {
        const file = files[partOf(field)]
        return file ? [[field, file.value] as const] : []
      })
      const paths = Object.fromEntries(received) as Partial<Record<F, string>>
      await use({ leased, fields, files: paths })
    })
  } catch (error) {
    if (lease && error instanceof DomainError && error.kind === 'too_large') await runnerJobs.fail(lease, error.message)
    throw error
  } finally {
    await place?.end()
  }
}

const tooLarge = (most: number): DomainError =>
  new DomainError('too_large', `The result has more than the ${most} bytes that the job allows.`)

function unexpected(field: string): DomainError {
  const invalidParams: InvalidParam[] = [{ name: partOf(field), location: 'body', msg: 'No such file is expected' }]
  return new DomainError('invalid', 'The form cannot be accepted.', { invalidParams })
}

/** Input files are bound to the job and its video. */
function addInputs(app: App, { store, config, runnerJobs, leasedBy }: WithLease): void {
  const params = jobParams.extend({ videoId: idOrUuid('video') })
  const schema = { tags: ofJobs, body: jobBody }

  interface Sent {
    jobUUID: string
    videoId: IdOrUuid
    runnerToken: string
    jobToken: string
  }

  async function send(request: FastifyRequest, reply: FastifyReply, sent: Sent, file: string): Promise<FastifyReply> {
    const leased = await leasedBy(request, reply, sent)
    const { video, videoId } = leased.job.data
    const isSameVideo = 'uuid' in sent.videoId ? sent.videoId.uuid === video : sent.videoId.id === videoId
    if (!isSameVideo) throw new DomainError('forbidden', 'This job is about another video.')
    const ref = await runnerJobs.input(leased, file)
    const isProxied = config().object_storage.proxy.proxify_private_files
    if (!isProxied && (await redirectToSignedStorage(reply, { store, refs: [ref] }))) return reply
    const absent = () => notFound('This job has no such file')
    return await serveFile(request, reply, { store, refs: [ref], caching: PRIVATE_FILE, delivery: config().vireo.delivery, absent })
  }

  for (const file of ['max-quality', 'max-quality/audio', 'previews/max-quality']) {
    app.post(
      `/api/v1/runners/jobs/:jobUUID/files/videos/:videoId/${file}`,
      { config: unlimited, schema: { ...schema, params } },
      async (request, reply) => await send(request, reply, { ...request.params, ...request.body }, file),
    )
  }

  app.post(
    '/api/v1/runners/jobs/:jobUUID/files/videos/:videoId/studio/task-files/:filename',
    { config: unlimited, schema: { ...schema, params: params.extend({ filename: z.string().max(255) }) } },
    async (request, reply) => {
      const { filename, ...named } = request.params
      return await send(request, reply, { ...named, ...request.body }, `studio/task-files/${filename}`)
    },
  )
}
