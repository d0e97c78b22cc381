// Multipart forms: fields are collected and parsed by zod, files are streamed to the targets of the route.

import { Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import fastifyMultipart, { type MultipartFile } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { DomainError, type InvalidParam } from '../../actors/runtime/index.ts'
import { readBody } from './body-types.ts'
import { checkLength, foldFields, MAX_FIELDS_BYTES, maxFields, tooManyFields } from './form-fields.ts'
import { HttpError } from './http-error.ts'
import { invalidParamsOf } from './invalid-params.ts'
import { named } from './named.ts'
import type { App } from './types.ts'

export interface FilePart {
  field: string
  /** As the client named it: never part of a path. */
  filename: string
  mimetype: string
}

/** The target of one file. */
export interface FileTarget<T> {
  writable: Writable
  /** The route gets it once all bytes are written. */
  value: T
  /** Removes the written bytes: called if the form fails at any later point, also in the middle. */
  discard(): Promise<void>
}

export interface FormFile<T> {
  /** `sent` returns the fields that precede the file and occur once. */
  open(part: FilePart, sent: (field: string) => string | undefined): Promise<FileTarget<T>>
  maxBytes: number
  /** How a file over the limit is refused, as the contract has it for the route: 413, or as an invalid field. */
  overLimit?: 'too large' | 'bad field'
  required?: boolean
}

export type ReceivedFile<T> = FilePart & { value: T; bytes: number }

export interface Form<S extends z.ZodType, F extends Record<string, FormFile<unknown>>> {
  fields: S
  files: F
}

export interface Received<S extends z.ZodType, F extends Record<string, FormFile<unknown>>> {
  fields: z.output<S>
  files: { [K in keyof F]?: F[K] extends FormFile<infer T> ? ReceivedFile<T> : never }
}

/** Headers of the parts, for the early check of Content-Length. */
const HEADERS_OVERHEAD = 1024 * 1024
/** How long the rest of a refused upload is read and discarded, so that the client sees the response. */
const LINGER_MS = 30_000

/** Adds routes that read multipart forms. The parser's hooks then cost nothing elsewhere. */
export function addFormRoutes(app: App, add: (forms: App) => void): void {
  const forms = async (scope: App): Promise<void> => {
    await scope.register(fastifyMultipart, {
      throwFileSizeLimit: false,
      limits: { fileSize: Number.POSITIVE_INFINITY },
      // By default the parser buffers the text of a field, also of many while a file is being written. As streams they wait, and their
      // lengths are counted together.
      isPartAFile: () => true,
    })
    add(scope)
  }
  app.register(named('forms', forms))
}

/**
 * Reads the form and calls `use`. If the form, the transfer or `use` fails, all written files are discarded. A body that is not a multipart
 * form counts as fields without files. Throws `invalid` with all invalid fields, also for a body of another type, and `too_large`
 * (`max_file_size_reached`) for a file over its limit.
 */
export async function withForm<S extends z.ZodType, F extends Record<string, FormFile<unknown>>, R>(
  request: FastifyRequest,
  form: Form<S, F>,
  use: (received: Received<S, F>) => Promise<R>,
): Promise<R> {
  const discards: (() => Promise<void>)[] = []
  try {
    const { sent, files } = request.isMultipart()
      ? await receive(request, form, discards)
      : { sent: bodyOf(request), files: new Map<string, ReceivedFile<unknown>>() }
    const parsed = readBody(form.fields, sent)
    const refused = [...invalidParamsOf(form.fields, 'body', sent), ...missingFiles(form.files, files)]
    if (refused.length > 0 || !parsed.success) throw refusal(refused)
    // The `open` functions that define the type made the files.
    return await use({ fields: parsed.data, files: Object.fromEntries(files) as Received<S, F>['files'] })
  } catch (error) {
    linger(request)
    await Promise.allSettled(discards.map((discard) => discard()))
    throw error
  }
}

/** A body that is neither a form nor JSON was not read: it must not count as an empty one. */
function bodyOf({ body, raw: { headers } }: FastifyRequest): unknown {
  const isSent = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  if (body === undefined && isSent) throw new DomainError('invalid', 'The body is neither a form nor JSON.')
  return body ?? {}
}

async function receive(
  request: FastifyRequest,
  form: Form<z.ZodType, Record<string, FormFile<unknown>>>,
  discards: (() => Promise<void>)[],
): Promise<{ sent: unknown; files: Map<string, ReceivedFile<unknown>> }> {
  const wanted = form.files
  refuseLongForms(request, wanted)
  const entries: [string, string][] = []
  const files = new Map<string, ReceivedFile<unknown>>()
  const most = maxFields(form.fields)
  // A part beyond these may be an unknown file, and is refused by its name.
  const parts = request.parts({ limits: { parts: most + Object.keys(wanted).length + 1 } })
  let bytes = 0
  while (true) {
    const { value: part, done } = await parts.next().catch(refuseMalformed)
    if (done) return { sent: foldFields(entries), files }
    if (part.type === 'field') continue
    if (part.filename) {
      const sent = (field: string): string | undefined => {
        const [value, ...others] = entries.filter(([name]) => name === field)
        return others.length === 0 ? value?.[1] : undefined
      }
      const twice = files.has(part.fieldname)
      files.set(part.fieldname, await store(part, wanted[part.fieldname], { twice, sent, discards }))
    } else {
      bytes += part.fieldname.length
      const text = await textOf(part, bytes)
      bytes += text.length
      if (entries.length === most) throw tooManyFields(most)
      if (!isEmptyInput(part)) entries.push([part.fieldname, text.toString()])
    }
  }
}

/** What browsers send for an empty file input. */
const isEmptyInput = ({ filename, mimetype }: MultipartFile): boolean => filename !== undefined || mimetype === 'application/octet-stream'

/** The bytes of a field that follows `before` bytes of others. */
async function textOf({ file }: MultipartFile, before: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of file) {
      bytes += chunk.length
      checkLength(before + bytes)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof HttpError) throw error
    refuseMalformed(error)
  }
  return Buffer.concat(chunks, bytes)
}

async function store(
  { fieldname, filename, mimetype, file }: MultipartFile,
  wanted: FormFile<unknown> | undefined,
  form: { twice: boolean; sent: (field: string) => string | undefined; discards: (() => Promise<void>)[] },
): Promise<ReceivedFile<unknown>> {
  const { twice, sent, discards } = form
  const part = { field: fieldname, filename, mimetype }
  // A failure propagates through all streams of the pipeline; the first one caused it.
  let fault: 'form' | 'place' | undefined
  file.once('error', () => {
    fault ??= 'form'
  })
  if (!wanted || twice) {
    file.resume()
    throw refusal([{ name: fieldname, location: 'body', msg: twice ? 'Only one file is expected' : 'No such file is expected' }])
  }
  const target = await wanted.open(part, sent)
  discards.push(() => target.discard())
  const counter = countBytes(fieldname, wanted)
  for (const stream of [counter.stream, target.writable]) {
    stream.once('error', () => {
      fault ??= 'place'
    })
  }
  try {
    await pipeline(file, counter.stream, target.writable)
  } catch (error) {
    if (fault === 'form') refuseMalformed(error)
    throw error
  }
  return { ...part, value: target.value, bytes: counter.bytes() }
}

function countBytes(name: string, wanted: FormFile<unknown>): { stream: Transform; bytes: () => number } {
  let bytes = 0
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > wanted.maxBytes) done(tooLarge(name, wanted))
      else done(null, chunk)
    },
  })
  return { stream, bytes: () => bytes }
}

function refuseLongForms(request: FastifyRequest, wanted: Record<string, FormFile<unknown>>): void {
  const files = Object.entries(wanted).toSorted(([, one], [, other]) => other.maxBytes - one.maxBytes)
  const total = files.reduce((sum, [, { maxBytes }]) => sum + maxBytes, 0)
  const [name, largest] = files[0] ?? ['', { maxBytes: 0 }]
  if (Number(request.headers['content-length']) > total + MAX_FIELDS_BYTES + HEADERS_OVERHEAD) throw tooLarge(name, largest)
}

/** The refusal of a file over its limit, with the limit in the notation of web servers, such as `4M`. */
function tooLarge(name: string, { maxBytes, overLimit = 'too large' }: Pick<FormFile<unknown>, 'maxBytes' | 'overLimit'>): DomainError {
  if (overLimit === 'bad field') return refusal([{ name, location: 'body', msg: `Should be a file of at most ${maxBytes} bytes` }])
  return new DomainError('too_large', `The file is larger than ${maxBytes} bytes.`, {
    code: 'max_file_size_reached',
    headers: { 'x-file-maximum-size': inWebServerNotation(maxBytes) },
  })
}

function inWebServerNotation(bytes: number): string {
  const units = [
    ['G', 1024 ** 3],
    ['M', 1024 ** 2],
    ['k', 1024],
  ] as const
  const unit = units.find(([, size]) => bytes >= size && bytes % size === 0)
  return unit ? `${bytes / unit[1]}${unit[0]}` : String(bytes)
}

function missingFiles(wanted: Record<string, FormFile<unknown>>, files: Map<string, unknown>): InvalidParam[] {
  return Object.entries(wanted)
    .filter(([name, file]) => file.required && !files.has(name))
    .map(([name]) => ({ name, location: 'body' as const, msg: 'A file is expected' }))
}

const refusal = (invalidParams: InvalidParam[]): DomainError =>
  new DomainError('invalid', 'The form cannot be accepted.', { invalidParams })

function refuseMalformed(error: unknown): never {
  if (typeof error === 'object' && error && 'code' in error && String(error.code).startsWith('FST_')) throw error
  throw new DomainError('invalid', 'The body is not a valid multipart form.', { cause: error })
}

/** Reads and discards: a client that is still sending would not see the refusal otherwise. */
export function linger({ raw }: FastifyRequest): void {
  if (raw.complete || raw.destroyed) return
  raw.unpipe()
  raw.resume()
  const cut = setTimeout(() => raw.destroy(), LINGER_MS)
  cut.unref()
  raw.once('close', () => clearTimeout(cut))
}
