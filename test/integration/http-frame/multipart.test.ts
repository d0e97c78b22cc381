// Multipart forms over real connections: parsing, refusals, and cleanup of temporary files.

import { connect } from 'node:net'
import { Writable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import type { App } from '../../../src/http/app.ts'
import { addFormRoutes, type FormFile, withForm } from '../../../src/http/plugins/multipart.ts'
import { booleanText, coercedInteger } from '../../../src/http/plugins/schemas.ts'
import { type Listening, listen } from '../../../src/http/server.ts'
import { comparable, exchangeOf } from '../../support/recordings.ts'
import { makeFrame } from './frame.ts'

const KEPT_MAX = 100_000

/** Events of the file destinations. */
const seen = { opened: 0, discarded: 0, bytes: 0, fail: false, waiting: [] as (() => void)[] }
let app: App
let server: Listening
let base: string

beforeAll(async () => {
  app = await makeFrame({ add: addRoutes })
  server = await listen(app, { hostname: '127.0.0.1', port: 0 })
  base = `http://127.0.0.1:${server.port}`
})
afterAll(() => server.close())
beforeEach(() => {
  Object.assign(seen, { opened: 0, discarded: 0, bytes: 0, fail: false, waiting: [] })
})

const place = (options: { required?: boolean; maxBytes?: number } = {}): FormFile<string> => ({
  maxBytes: options.maxBytes ?? KEPT_MAX,
  ...(options.required ? { required: true } : {}),
  async open({ filename }) {
    seen.opened++
    const chunks: Buffer[] = []
    const writable = new Writable({
      write(chunk: Buffer, _encoding, done) {
        seen.bytes += chunk.length
        chunks.push(chunk)
        done(seen.fail ? new Error('disk full') : null)
      },
    })
    return {
      writable,
      value: filename,
      async discard() {
        seen.discarded++
        for (const tell of seen.waiting.splice(0)) tell()
      },
    }
  },
})

const field = (name: string, value: string): string => `\r\n--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`

const discarded = () => new Promise<void>((resolve) => (seen.discarded > 0 ? resolve() : seen.waiting.push(resolve)))

const fields = z.object({
  name: z.string().min(3),
  privacy: coercedInteger({ min: 1, max: 5 }).optional(),
  nsfw: booleanText.optional(),
  tags: z.array(z.string().min(2)).max(5).optional(),
  scheduleUpdate: z.object({ privacy: coercedInteger({ max: 5 }).optional(), updateAt: z.string() }).optional(),
})

function addRoutes(scope: App): void {
  addFormRoutes(scope, (forms) => {
    const schema = { operationId: 'uploadLegacy' }
    forms.post('/api/v1/videos/upload', { schema }, (request) => {
      const files = { videofile: place({ required: true }), thumbnailfile: place({ maxBytes: 1024 }) }
      return withForm(request, { fields, files }, async (received) => {
        if (received.fields.name === 'refused') throw new Error('the command failed')
        const { videofile, thumbnailfile } = received.files
        return { fields: received.fields, video: videofile, thumbnail: thumbnailfile }
      })
    })
    forms.put('/api/v1/playlists', (request) =>
      withForm(request, { fields: z.object({ displayName: z.string() }), files: { image: place() } }, async (form) => form),
    )
  })
}

async function upload(form: FormData, path = '/api/v1/videos/upload', method = 'POST') {
  const response = await fetch(base + path, { method, body: form })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

function formOf(entries: Record<string, string | Blob>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(entries)) form.append(name, value)
  return form
}

const video = (bytes: number) => new File([new Uint8Array(bytes)], 'my video.mp4', { type: 'video/mp4' })

describe('a form', () => {
  it('provides its fields and files, in any order', async () => {
    const form = new FormData()
    form.append('videofile', video(50_000))
    form.append('name', 'vidéo')
    form.append('privacy', '1')
    form.append('nsfw', 'false')
    form.append('tags[0]', 'one')
    form.append('tags[1]', 'two')
    form.append('scheduleUpdate[privacy]', '3')
    form.append('scheduleUpdate[updateAt]', '2030-01-01')
    form.append('unknown', 'x')
    expect(await upload(form)).toMatchObject({
      status: 200,
      body: {
        fields: {
          name: 'vidéo',
          privacy: 1,
          nsfw: false,
          tags: ['one', 'two'],
          scheduleUpdate: { privacy: 3, updateAt: '2030-01-01' },
        },
        video: {
          field: 'videofile',
          filename: 'my video.mp4',
          mimetype: 'video/mp4',
          bytes: 50_000,
          value: 'my video.mp4',
        },
      },
    })
    expect(seen).toMatchObject({ opened: 1, discarded: 0, bytes: 50_000 })
  })

  it.each([
    ['tags', 'tags'],
    ['tags[]', 'tags[]'],
  ])('takes lists as %s', async (one, two) => {
    const form = formOf({ name: 'name', videofile: video(1) })
    form.append(one, 'aa')
    form.append(two, 'bb')
    expect((await upload(form)).body.fields.tags).toEqual(['aa', 'bb'])
  })

  it('without a file has none when a browser sends an empty input', async () => {
    const form = formOf({ name: 'name', videofile: video(1) })
    form.append('thumbnailfile', new File([], ''))
    const { status, body } = await upload(form)
    expect(status).toBe(200)
    expect(body).not.toHaveProperty('thumbnail')
  })

  it('may be JSON when it has no files', async () => {
    const response = await fetch(`${base}/api/v1/playlists`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ displayName: 'renamed' }),
    })
    expect(await response.json()).toEqual({ fields: { displayName: 'renamed' }, files: {} })
  })
})

describe('a form is refused', () => {
  it('with all invalid fields and missing files in one response, and stored files are discarded', async () => {
    const { status, body } = await upload(formOf({ name: 'a', privacy: '42', nsfw: 'maybe', thumbnailfile: video(10) }))
    expect(status).toBe(400)
    expect(body).toMatchObject({
      detail: 'Incorrect request parameters: name, privacy, nsfw, videofile',
      docs: 'https://docs.joinpeertube.org/api-rest-reference.html#operation/uploadLegacy',
      'invalid-params': { privacy: { value: 42 } },
    })
    expect(seen).toMatchObject({ opened: 1, discarded: 1 })
  })

  it.each(['too many tags', 'bad scheduled privacy'])('as recorded: %s', async (name) => {
    const { request, response } = exchangeOf('video-upload', name)
    const parts = z.array(z.object({ name: z.string(), value: z.string().optional() })).parse(request.multipart)
    const form = new FormData()
    for (const part of parts) {
      if (part.value === undefined) form.append(part.name, video(10))
      else form.append(part.name, part.value.replace('{{now+86400}}', '2030-01-01'))
    }
    const { status, body } = await upload(form)
    expect(status).toBe(response.status)
    expect(comparable(body)).toEqual(comparable(response.body))
    expect(seen).toMatchObject({ opened: 1, discarded: 1 })
  })

  it('with an unexpected file', async () => {
    const { status, body } = await upload(formOf({ name: 'name', other: video(90_000), videofile: video(1) }))
    expect(status).toBe(400)
    expect(Object.keys(body['invalid-params'])).toEqual(['other'])
    expect(seen.opened).toBe(0)
  })

  it('with the same file twice', async () => {
    const form = formOf({ name: 'name', videofile: video(10) })
    form.append('videofile', video(10))
    expect(await upload(form)).toMatchObject({ status: 400, body: { 'invalid-params': { videofile: {} } } })
    expect(seen).toMatchObject({ opened: 1, discarded: 1 })
  })

  it('with a file over its limit, as soon as the limit is exceeded', async () => {
    const { status, headers, body } = await upload(formOf({ name: 'name', thumbnailfile: video(5000), videofile: video(1) }))
    expect({ status, code: body.code, max: headers.get('x-file-maximum-size') }).toEqual({
      status: 413,
      code: 'max_file_size_reached',
      max: '1k',
    })
    expect(seen).toMatchObject({ opened: 1, discarded: 1 })
  })

  it('that is far too long, before anything is stored', async () => {
    const { status, body } = await upload(formOf({ name: 'name', videofile: video(5_000_000) }))
    expect([status, body.code]).toEqual([413, 'max_file_size_reached'])
    expect(seen.opened).toBe(0)
  })

  it('when its command fails', async () => {
    expect((await upload(formOf({ name: 'refused', videofile: video(10), thumbnailfile: video(10) }))).status).toBe(500)
    expect(seen).toMatchObject({ opened: 2, discarded: 2 })
  })

  it('when the destination of the file fails', async () => {
    seen.fail = true
    expect((await upload(formOf({ name: 'name', videofile: video(80_000) }))).status).toBe(500)
    expect(seen).toMatchObject({ opened: 1, discarded: 1 })
  })

  it.each(['__proto__', 'constructor', 'toString'])('with a field called %s', async (name) => {
    const form = formOf({ name: 'name', videofile: video(1) })
    form.append(name, 'x')
    const { status } = await upload(form)
    expect(status).toBe(400)
    expect(Reflect.get({}, 'x')).toBeUndefined()
  })

  it('with a field of two megabytes', async () => {
    const { status } = await upload(formOf({ name: 'x'.repeat(2 * 1024 * 1024), videofile: video(1) }))
    expect(status).toBe(413)
  })

  it('with more fields than its schema and known clients have', async () => {
    const form = formOf({ name: 'name' })
    for (let i = 0; i < 110; i++) form.append(`f${i}`, 'x')
    expect(await upload(form)).toMatchObject({ status: 413, body: { code: 'PayloadTooLargeError' } })
  })

  it.each([
    ['before a file', []],
    ['while a file is still written', [Buffer.from(field('videofile"; filename="v.mp4', 'x'))]],
  ])('with fields of two megabytes in total, without a length: %s', async (_when, first) => {
    let sent = 0
    const aborted = new AbortController()
    const text = Buffer.from('x'.repeat(64 * 1024))
    const body = new ReadableStream<Uint8Array>({
      start: (form) => first.forEach((part) => void form.enqueue(part)),
      async pull(form) {
        // fetch() keeps reading after the answer.
        if (aborted.signal.aborted) return form.close()
        const head = sent % 16 === 0 ? field(`f${sent}`, '') : ''
        sent += 1
        form.enqueue(Buffer.concat([Buffer.from(head.slice(0, -2)), text]))
        await new Promise(setImmediate)
      },
    })
    const type = 'multipart/form-data; boundary=b'
    const response = await fetch(`${base}/api/v1/videos/upload`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
      duplex: 'half',
      signal: aborted.signal,
    } as RequestInit)
    const megabytes = sent / 16
    expect([response.status, response.headers.get('content-type')]).toEqual([413, 'application/problem+json; charset=utf-8'])
    expect(megabytes).toBeLessThan(50)
    aborted.abort()
    expect(seen.opened).toBe(seen.discarded)
  })

  const raw = (body: string, type = 'multipart/form-data; boundary=x') =>
    fetch(`${base}/api/v1/videos/upload`, { method: 'POST', headers: { 'content-type': type }, body })
  it.each([
    ['no boundary', raw, 'x', 'multipart/form-data'],
    ['no end', raw, '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nabc', undefined],
    ['no end in a file', raw, '--x\r\nContent-Disposition: form-data; name="videofile"; filename="a.mp4"\r\n\r\nabc', undefined],
    ['no form', raw, 'hello', undefined],
    ['nothing', raw, '', undefined],
  ])('that is broken: %s', async (_name, send, body, type) => {
    const response = await send(body, type)
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toContain('problem+json')
    expect(seen.opened).toBe(seen.discarded)
  })
})

describe('a connection', () => {
  const head = (length: number) =>
    `POST /api/v1/videos/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n\r\n`
  const filePart = (name: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"; filename="v.mp4"\r\nContent-Type: video/mp4\r\n\r\n`

  it('that breaks during a file leaves nothing behind', async () => {
    const socket = connect(server.port, '127.0.0.1')
    socket.write(head(90_000) + filePart('videofile') + 'x'.repeat(20_000))
    await new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (seen.bytes === 0) return
        clearInterval(look)
        resolve()
      }, 5)
    })
    const gone = discarded()
    socket.destroy()
    await gone
    expect(seen).toMatchObject({ opened: 1, discarded: 1 })
  })

  it('that is still sending receives the refusal, and serves the next request', async () => {
    const rest = 90_000
    const first = filePart('other') + 'x'.repeat(20_000)
    const socket = connect(server.port, '127.0.0.1')
    socket.write(head(first.length + rest) + first)
    let read = ''
    const until = (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        socket.on('data', function look(data) {
          read += data
          if (!pattern.test(read)) return
          socket.off('data', look)
          resolve()
        })
      })
    await until(/^HTTP\/1\.1 400 /)
    const next = until(/HTTP\/1\.1 200 OK[\s\S]*pong$/)
    socket.write(`${'x'.repeat(rest)}GET /api/v1/ping HTTP/1.1\r\nHost: x\r\n\r\n`)
    await next
    socket.destroy()
  })
})
