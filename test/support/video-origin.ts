// A foreign video site on loopback: files with configurable answers, and pages for the stand-in of yt-dlp.

import { once } from 'node:events'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { YT_DLP } from './config.ts'

export type Answer = (request: IncomingMessage, response: ServerResponse) => void

export interface VideoOrigin {
  port: number
  /** Requested paths. */
  requested: string[]
  /** Sets the answer of a path. */
  answer(path: string, by: Answer | { type: string; bytes: Buffer | string }): void
  close(): Promise<void>
}

export async function startVideoOrigin(hostname = '127.0.0.1'): Promise<VideoOrigin> {
  const answers = new Map<string, Answer>()
  const requested: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    requested.push(path)
    const by = answers.get(path.split('?')[0] ?? '')
    if (by) by(request, response)
    else response.writeHead(404, { 'content-type': 'text/html' }).end('<p>Nothing here</p>')
  })
  server.listen(0, hostname)
  await once(server, 'listening')
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    requested,
    answer(path, by) {
      answers.set(path, typeof by === 'function' ? by : sending(by.type, Buffer.from(by.bytes)))
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const ETAG = '"the same"'

/** Answers with range support, as file servers do. */
export const sending =
  (type: string, bytes: Buffer): Answer =>
  (request, response) => {
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '')
    const isSame = [undefined, ETAG].includes(request.headers['if-range'] as string | undefined)
    const [start, end] = range && isSame ? [Number(range[1]), Number(range[2] || bytes.length - 1)] : [0, bytes.length - 1]
    const part = bytes.subarray(start, end + 1)
    const headers = { 'content-type': type, 'content-length': part.length, etag: ETAG, 'accept-ranges': 'bytes' }
    if (range && isSame) {
      response.writeHead(206, { ...headers, 'content-range': `bytes ${start}-${end}/${bytes.length}` })
    } else response.writeHead(200, headers)
    response.end(request.method === 'HEAD' ? undefined : part)
  }

/**
 * Installs a fake `yt-dlp` into a folder. It fetches everything through the given proxy: metadata from `<page>.json`; media from
 * `<page>.mp4`, or `<page>.f1.mp4` and `<page>.f2.m4a`; without a download, pictures from `<page>.png` and `<page>.gif`, and subtitles
 * from `<page>.vtt`, whose absence is an error when they are requested. A page that ends with `hang` starts another program, and neither
 * ends; `astray` requests the given targets without the proxy; `flood` writes endless output. `runs.json` records the calls.
 */
export async function installYtDlp(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const path = join(folder, YT_DLP)
  await writeFile(path, `#!${process.execPath}\n${PROGRAM}`)
  await chmod(path, 0o755)
}

const PROGRAM = `
const { spawn } = require('node:child_process')
const http = require('node:http')
const { appendFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
if (args.includes('--version')) {
  console.log('2026.01.02')
  process.exit()
}
const end = args.indexOf('--')
if (end !== args.length - 2 || !args.includes('--ignore-config')) {
  process.stderr.write('ERROR: wrong arguments ' + args.join(' '))
  process.exit(2)
}
const url = args[end + 1]
const proxy = new URL(args[args.indexOf('--proxy') + 1])
const get = (target) => new Promise((resolve, reject) => {
  const credentials = Buffer.from(proxy.username + ':' + proxy.password).toString('base64')
  http.get({ host: proxy.hostname, port: proxy.port, path: target, headers: { 'proxy-authorization': 'Basic ' + credentials, host: new URL(target).host } }, (answer) => {
    const parts = []
    answer.on('data', (part) => parts.push(part)).on('error', reject)
    answer.on('end', () => resolve(answer.statusCode === 200 ? Buffer.concat(parts) : undefined))
  }).on('error', reject)
})
async function main() {
  if (url.endsWith('hang')) {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
    writeFileSync('pids.json', JSON.stringify([process.pid, child.pid]))
    return await new Promise(() => setInterval(() => {}, 1000))
  }
  if (url.endsWith('astray')) {
    const told = await get(url + '.json')
    for (const target of JSON.parse(told).targets) {
      await new Promise((resolve) => http.get(target, resolve).on('error', resolve))
    }
    throw new Error('[generic] nothing there')
  }
  if (url.endsWith('flood')) {
    process.stdout.on('error', () => {})
    for (;;) if (!process.stdout.write('x'.repeat(1e6))) await new Promise((resolve) => process.stdout.once('drain', resolve))
  }
  appendFileSync('runs.json', JSON.stringify({ args, path: process.env.PATH }) + '\\n')
  const told = await get(url + '.json')
  if (!told) throw new Error('[generic] Unable to open ' + url + ': it was refused')
  if (args.includes('--dump-single-json')) return process.stdout.write(told)
  const store = (extension, bytes) => writeFileSync(args[args.indexOf('--output') + 1].replace('.%(ext)s', extension), bytes)
  if (args.includes('--write-thumbnail')) {
    for (const from of ['.png', '.gif']) {
      const picture = await get(url + from)
      if (picture) store(from, picture)
    }
  }
  if (args.includes('--write-subs')) {
    const subtitles = await get(url + '.vtt')
    if (!subtitles) throw new Error('Unable to download video subtitles')
    store('.en-US.vtt', subtitles)
  }
  if (args.includes('--skip-download')) return
  for (const from of ['.mp4', '.f1.mp4', '.f2.m4a']) {
    const bytes = await get(url + from)
    if (bytes) store(from, bytes)
    if (bytes) process.stdout.write('vireo-progress ' + bytes.length + ' ' + bytes.length + '\\n')
  }
}
main().catch((error) => {
  process.stderr.write('ERROR: ' + error.message + '\\n')
  process.exit(1)
})
`

/** The metadata of a page. */
export const pageInfo = (more: Record<string, unknown> = {}): string =>
  JSON.stringify({
    _type: 'video',
    title: 'A video of another site',
    description: 'Its description\n\n0:00 Ignored',
    tags: ['one', 'two', 'x'.repeat(40)],
    categories: ['Science & Technology'],
    license: 'Creative Commons Attribution licence (reuse allowed)',
    language: 'en-US',
    age_limit: 18,
    format_id: '1',
    subtitles: { 'en-US': [{ ext: 'vtt' }] },
    upload_date: '20200102',
    chapters: [
      { start_time: 0, end_time: 1, title: 'Beginning' },
      { start_time: 1, end_time: 2, title: 'End' },
    ],
    ...more,
  })
