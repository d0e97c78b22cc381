// Recorded uploads get the recorded responses, except for decided differences.

import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { z } from 'zod'
import { media } from '../../support/media.ts'
import { type Disk, makeDisk, startNode, type UploadNode } from './node.ts'

const exchanges = z
  .array(
    z.object({
      name: z.string(),
      as: z.enum(['user', 'anonymous']),
      request: z.object({
        path: z.string(),
        headers: z.record(z.string(), z.string()).nullish(),
        multipart: z
          .array(
            z.object({
              name: z.string(),
              value: z.string().optional(),
              file: z.string().optional(),
              filename: z.string().optional(),
              type: z.string().optional(),
            }),
          )
          .optional(),
        body: z.record(z.string(), z.unknown()).optional(),
      }),
      response: z.object({ status: z.int(), body: z.unknown() }),
    }),
  )
  .parse(JSON.parse(readFileSync(new URL('../../fixtures/recordings/video-upload.json', import.meta.url), 'utf8')))

/** Decided differences: extension and size are checked when an upload is opened, and all invalid fields are named. */
const DECIDED: Record<string, number> = {
  'resumable init: bad extension': 415,
  'resumable init: zero length': 400,
}

let disk: Disk
let node: UploadNode
beforeAll(async () => {
  disk = await makeDisk()
  node = await startNode(disk)
})
afterAll(async () => {
  await node.stop()
  await disk.remove()
})

function filled(text: string): string {
  return text
    .replace('{{id:chan:user}}', String(disk.users.owner.channelId))
    .replace('{{id:chan:user2}}', String(disk.users.other.channelId))
    .replace(/\{\{now\+(\d+)\}\}/, (_all, seconds) => new Date(Date.now() + Number(seconds) * 1000).toISOString())
}

async function fileOf(name: string): Promise<Buffer> {
  if (name.endsWith('.txt')) return Buffer.from('not a video\n')
  if (name.endsWith('.jpg')) return readFile(await media('picture.png'))
  if (name.endsWith('.webm')) return readFile(await media('webm.webm'))
  if (name.endsWith('.ogg')) return readFile(await media('sound.ogg'))
  return readFile(await media('small.mp4'))
}

it.each(exchanges.map((exchange) => [exchange.name, exchange] as const))('%s', async (name, { as, request, response }) => {
  const headers: Record<string, string> = { ...request.headers }
  if (as === 'user') headers.authorization = `Bearer ${disk.users.owner.token}`
  let body: FormData | string
  if (request.multipart) {
    body = new FormData()
    for (const { name: field, value, file, filename, type } of request.multipart) {
      if (file === undefined) body.append(field, filled(value ?? ''))
      else body.append(field, new Blob([new Uint8Array(await fileOf(file))], { type: type ?? '' }), filename ?? file)
    }
  } else {
    headers['content-type'] = 'application/json'
    body = filled(JSON.stringify(request.body)).replace(/"channelId":"(\d+)"/, '"channelId":$1')
  }
  const answer = await fetch(node.base + request.path, { method: 'POST', headers, body })
  const text = await answer.text()
  const got = text === '' ? null : JSON.parse(text)
  expect({ text, status: answer.status }).toEqual({ text, status: DECIDED[name] ?? response.status })
  const recorded = z.object({ 'invalid-params': z.record(z.string(), z.unknown()) }).safeParse(response.body)
  // The observed server stops at the first invalid part of a request.
  if (recorded.success) {
    const names = Object.keys(got['invalid-params'])
    expect(names).toEqual(expect.arrayContaining(Object.keys(recorded.data['invalid-params'])))
  }
  if (answer.status >= 400) expect(answer.headers.get('content-type')).toContain('application/problem+json')
})
