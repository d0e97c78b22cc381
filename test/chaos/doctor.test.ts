// `vireo doctor` on a healthy server, on a server with one fault at a time, and without any server.

import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { login } from '../../scripts/demo/client.ts'
import type { Finding } from '../../src/cli/doctor/check.ts'
import { makeExamine } from '../../src/cli/examine.ts'
import { findSandbox } from '../../src/media/index.ts'
import { formIn, makeBrowser } from '../support/browser.ts'
import { fakeTools } from '../support/fake-ffmpeg.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { freePort } from '../support/ports.ts'
import { testRedisUrl } from '../support/redis.ts'
import { everythingIn, startS3, type TestS3 } from '../support/s3.ts'
import { environmentOf, queryVireo, runVireo } from './support/vireo.ts'

const run = promisify(execFile)

let node: TestNode
let s3: TestS3
let mail: MailServer
/** Accepts connections and never answers. */
let mute: Server
let mutePort: number

beforeAll(async () => {
  node = await startTestNode({
    examine: (sendMailTo) =>
      makeExamine({ files: [], cwd: node.dataDir, env: { ...process.env, ...environment(), VIREO__SMTP: smtp('right') } })(sendMailTo),
  })
  s3 = await startS3()
  mail = await startMailServer({ user: { username: 'vireo', password: 'right' } })
  // A socket that nobody reads never notices that it was closed.
  mute = createServer((socket) => socket.on('error', () => {}).resume())
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
  const address = mute.address()
  mutePort = typeof address === 'object' && address ? address.port : 0
})
afterAll(async () => {
  mute?.close()
  await mail?.close()
  await s3?.stop()
  await node?.stop()
})

type Report = { problems: number; warnings: number; findings: Finding[] }

/** The doctor finds ffmpeg on PATH. */
const environment = () => ({
  ...environmentOf(node),
  VIREO__VIREO__MEDIA__FFMPEG_PATH: undefined,
  VIREO__VIREO__MEDIA__FFPROBE_PATH: undefined,
})

/** The ffmpeg of this machine may have any version. */
const pathWithFfmpeg = async (version: string): Promise<string> =>
  [await fakeTools(['libx264', 'aac'], version), process.env.PATH].join(delimiter)

async function examine(more: Record<string, string | undefined> = {}, args: string[] = []) {
  const report = await queryVireo<Report>({ ...environment(), PATH: await pathWithFfmpeg('8.1.2'), ...more }, ['doctor', ...args])
  const problems = report.findings.filter(({ status }) => status === 'problem')
  return {
    ...report,
    wrong: problems,
    bad: problems.map(({ check }) => check),
    of: (check: string) => report.findings.filter((one) => one.check === check),
  }
}

const smtp = (password: string, port = mail.port) =>
  JSON.stringify({ hostname: '127.0.0.1', port, tls: false, disable_starttls: true, username: 'vireo', password })

it('finds no fault in a healthy server, and sends it requests as other servers do', async () => {
  const { object_storage, vireo } = everythingIn(s3.endpoint)
  const before = mail.mails.length
  const report = await examine({
    VIREO__SMTP: smtp('right'),
    VIREO__OBJECT_STORAGE: JSON.stringify({ ...object_storage }),
    VIREO__VIREO: JSON.stringify(vireo),
  })
  expect(report.wrong).toEqual([])
  expect(report.of('federation').map(({ status, message }) => [status, message])).toEqual([
    ['ok', expect.stringContaining('nodeinfo answers')],
    ['ok', expect.stringContaining('WebFinger finds root@')],
    ['ok', expect.stringContaining('WebFinger finds peertube@')],
    ['ok', 'The actor of this server answers a signed request.'],
  ])
  expect(report.of('store').filter(({ message }) => message.includes('object storage'))).toHaveLength(1)
  expect(report.of('mail')).toEqual([{ check: 'mail', status: 'ok', message: expect.stringContaining('takes the login') }])
  expect(mail.mails).toHaveLength(before)
  for (const { check, status, message, advice } of report.findings) {
    expect([check, message.endsWith('.')]).toEqual([check, true])
    expect([check, advice !== undefined]).toEqual([check, status !== 'ok'])
  }
  const table = await runVireo({ ...environment(), PATH: await pathWithFfmpeg('8.1.2') }, ['doctor'])
  expect([table.code, table.said.split('\n').at(-1)]).toEqual([0, expect.stringMatching(/^0 problems, \d+ warnings\.$/)])
})

it('sends a mail only to a given address', async () => {
  const report = await examine({ VIREO__SMTP: smtp('right') }, ['--send-mail-to', 'operator@example.org'])
  expect(report.of('mail').at(-1)?.message).toMatch(/was sent/)
  expect(await mail.next('operator@example.org')).toMatchObject({ subject: expect.stringContaining('arrives') })
})

it('checks everything else when the database, Redis, mail or the store is unavailable', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-doctor-'))
  // Nothing can be created below a file.
  await writeFile(join(folder, 'thumbnails'), '')
  try {
    const report = await examine({
      DATABASE_URL: `postgres://nobody:wrong@127.0.0.1:${mutePort}/nothing`,
      REDIS_URL: `redis://127.0.0.1:${mutePort}`,
      VIREO__SMTP: smtp('wrong'),
      VIREO__STORAGE: JSON.stringify({ thumbnails: join(folder, 'thumbnails') }),
    })
    expect(report.bad).toEqual(['database', 'redis', 'store', 'mail'])
    expect(report.of('store').map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^thumbnails cannot be kept in the folders/),
    )
    expect(report.of('mail')[0]?.advice).toMatch(/username and smtp.password/)
    expect(report.of('federation').map(({ status }) => status)).toEqual(['ok', 'ok', 'ok', 'warning', 'ok'])
  } finally {
    await rm(folder, { recursive: true })
  }
})

it('runs in the server for its administrator, and sends a mail', async () => {
  const root = await login(node.base, node.username, node.password)
  const { data } = await root.send<{ data: Finding[] }>('POST', '/api/v1/vireo/check-up', { sendMailTo: 'admin@example.com' })
  expect(data).toContainEqual({ check: 'mail', status: 'ok', message: 'A mail to admin@example.com was sent.' })
  expect(data.filter(({ check }) => check === 'database').map(({ status }) => status)).toContain('ok')
  expect(await mail.next('admin@example.com')).toMatchObject({ subject: expect.stringContaining('arrives') })
})

it("is a page in the administrator's language", async () => {
  const german = { 'accept-language': 'de' }
  const root = makeBrowser(node.base, german)
  await root.login(node.username, node.password)
  const client = await login(node.base, node.username, node.password)
  const { data } = await client.send<{ data: Finding[] }>('POST', '/api/v1/vireo/check-up', {})
  const { html } = await root.send(formIn((await root.open('/admin/check-up')).html, '/admin/check-up'), { part: 'check' })
  expect(html).toContain('PostgreSQL')
  const english = data.flatMap(({ message, advice }) => [message, advice ?? '']).filter((text) => / (?:is|are|the) /.test(text))
  expect(english.length).toBeGreaterThan(5)
  expect(english.filter((text) => html.includes(text))).toEqual([])
})

it('ends even if a service never answers', async () => {
  const { object_storage, vireo } = everythingIn(`http://127.0.0.1:${mutePort}`)
  const env = {
    ...environment(),
    VIREO__OBJECT_STORAGE: JSON.stringify(object_storage),
    VIREO__VIREO: JSON.stringify(vireo),
  }
  const main = fileURLToPath(new URL('../../src/main.js', import.meta.url))
  const ended = await run(process.execPath, [main, 'doctor', '--json'], { env, timeout: 200_000 }).catch((error) => error)
  expect([ended.code, ended.killed]).toEqual([1, false])
  const { findings } = JSON.parse(ended.stdout) as Report
  expect(findings.filter(({ check, status }) => check === 'store' && status === 'problem')).not.toEqual([])
})

it('reports data of another address or secret, and a secret file that others can read', async () => {
  await chmod(join(node.dataDir, 'secret.key'), 0o644)
  const moved = await examine({ VIREO__WEBSERVER__HOSTNAME: 'localhost' })
  expect(moved.of('database').map(({ message }) => message)).toContainEqual(expect.stringMatching(/The data is that of/))
  expect(moved.of('federation').map(({ message }) => message)).toContainEqual(expect.stringMatching(/^nodeinfo is not at/))
  // The server makes the secret private again when it opens it.
  expect(moved.of('secret')[0]).toMatchObject({ status: 'problem', advice: expect.stringContaining('chmod 600') })
  const other = await examine({ VIREO__SECRETS__PEERTUBE: 'something else' })
  expect(other.of('database').map(({ message }) => message)).toContainEqual(expect.stringMatching(/another secret/))
})

it('reports the version of Redis, if there is one', async () => {
  const url = testRedisUrl()
  const [first] = (await examine({ REDIS_URL: url })).of('redis')
  const expected = url === undefined ? 'Redis is not configured' : 'Redis'
  expect(first).toMatchObject({ status: 'ok', message: expect.stringContaining(expected) })
})

it.each([
  ['4.4.6', 'old build without security fixes'],
  ['5.1.9-0+deb12u1', 'CVE-2026-8461'],
])('reports the known vulnerabilities of ffmpeg %s', async (version, named) => {
  const { of } = await examine({ PATH: await pathWithFfmpeg(version) })
  expect(of('ffmpeg').filter(({ status }) => status === 'problem')).toEqual([
    expect.objectContaining({ message: expect.stringContaining(named) }),
  ])
})

it('reports whether yt-dlp is installed for imports, runs, and is outdated', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-doctor-'))
  const path = join(folder, 'yt-dlp-of-ours')
  const youtube_dl_release = { name: 'yt-dlp-of-ours', python_path: '/nowhere' }
  const imports = async (enabled: boolean) => {
    const { of } = await examine({
      VIREO__STORAGE: JSON.stringify({ bin: folder }),
      VIREO__IMPORT: JSON.stringify({ videos: { http: { enabled, youtube_dl_release } } }),
    })
    return of('imports').map(({ status, message }) => [status, message])
  }
  const program = (text: string) => writeFile(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 })
  try {
    expect(await imports(false)).toEqual([['ok', expect.stringContaining('not imported by URL')]])
    expect(await imports(true)).toEqual([['warning', expect.stringContaining('There is no yt-dlp')]])
    await program('exit 1')
    expect(await imports(true)).toEqual([['problem', `yt-dlp does not run (${path}).`]])
    await program('echo 2023.03.04')
    expect(await imports(true)).toEqual([
      ['problem', expect.stringContaining(`yt-dlp 2023.03.04 (${path}) has known security holes, and is not run`)],
    ])
    await program('echo 2024.07.02')
    const sandbox = await findSandbox({ pythonPath: '/nowhere' })
    expect(await imports(true)).toEqual([
      ['ok', `yt-dlp 2024.07.02 (${path}).`],
      sandbox ? ['ok', expect.stringContaining('runs in a network namespace')] : ['warning', expect.stringContaining('permits no sandbox')],
      ['warning', 'yt-dlp 2024.07.02 is old: sites change, and newer releases close security holes.'],
    ])
  } finally {
    await rm(folder, { recursive: true })
  }
})

it('reports a wrong proxy setting, and an address at which no server answers', async () => {
  const report = await examine({
    VIREO__TRUST_PROXY: '["0.0.0.0/0"]',
    VIREO__WEBSERVER__PORT: String(mutePort),
    VIREO__VIREO: JSON.stringify({ delivery: { x_accel_location: '/internal' } }),
  })
  expect(report.bad).toEqual(expect.arrayContaining(['federation', 'proxy', 'database']))
  expect(report.of('proxy').map(({ status }) => status)).toEqual(['problem', 'warning'])
  expect(report.problems).toBeGreaterThan(2)
})

it('reports whether live streams arrive, and whether the certificate of RTMPS matches', async () => {
  expect((await examine()).of('live')).toEqual([{ check: 'live', status: 'ok', message: 'Live streams are disabled.' }])
  const folder = join(import.meta.dirname, '../fixtures/mail')
  const port = await freePort()
  const rtmps = { enabled: true, port: mutePort, key_file: join(folder, 'key.pem'), cert_file: join(folder, 'certificate.pem') }
  const lives = (more: object) => JSON.stringify({ enabled: true, rtmp: { port: mutePort }, rtmps: { ...rtmps, ...more } })
  const report = await examine({ VIREO__LIVE: lives({ port, public_hostname: 'elsewhere.example' }) })
  expect(report.of('live').map(({ status, message }) => [status, message])).toEqual([
    ['ok', `Port ${mutePort} takes connections for RTMP.`],
    ['problem', expect.stringContaining(`Nothing listens on port ${port} for RTMPS`)],
    ['problem', 'The certificate of RTMPS is not for elsewhere.example.'],
  ])
  const fitting = await examine({ VIREO__LIVE: lives({ public_hostname: '127.0.0.1' }) })
  expect(fitting.of('live').at(-1)).toMatchObject({
    status: 'ok',
    message: expect.stringContaining('The certificate of RTMPS is valid until 2'),
  })
})
