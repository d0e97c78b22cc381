// The operator's commands beside a running server: the first in a process, the others within the test process.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { migrations } from '../../migrations/index.ts'
import { login } from '../../scripts/demo/client.ts'
import { makeUser, makeVideo } from '../support/builders.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { freshDatabase } from '../support/postgres.ts'
import { makeTestRuntime } from '../support/runtime.ts'
import { until } from '../support/until.ts'
import { environmentOf, queryVireo, runVireo } from './support/vireo.ts'

const MAIN = join(fileURLToPath(new URL('../../', import.meta.url)), 'src/main.js')
const run = promisify(execFile)

let node: TestNode
beforeAll(async () => {
  node = await startTestNode()
})
afterAll(() => node?.stop())

const environment = () => environmentOf(node)
const vireo = (...args: string[]) => runVireo(environment(), args)

const newPassword = async (username: string) => passwordIn((await vireo('reset-password', '--username', username)).said)
const passwordIn = (said: string): string => /^User password: (\S+)$/m.exec(said)?.[1] ?? ''

describe('the command line', () => {
  it('creates a user who can log in, with the requested role', async () => {
    const user = ['--username', 'helper', '--email', 'helper@example.org', '--role', 'moderator']
    const { stdout } = await run(process.execPath, [MAIN, 'create-user', ...user], { env: environment() })
    const client = await login(node.base, 'helper', passwordIn(stdout))
    expect(await client.get('/api/v1/users/me')).toMatchObject({ username: 'helper', role: { label: 'Moderator' } })
  })

  it('works beside a process that exports metrics and health, with the same configuration', async () => {
    const taken = new URL(node.base).port
    const env = {
      ...environment(),
      VIREO__OPEN_TELEMETRY__METRICS__ENABLED: 'true',
      VIREO__OPEN_TELEMETRY__METRICS__PROMETHEUS_EXPORTER__PORT: taken,
      VIREO__VIREO__HEALTH__PORT: taken,
    }
    expect(await runVireo(env, ['jobs', 'list', '--state', 'failed'])).toMatchObject({ code: 0, complaint: '' })
  })
  it('leaves the first start, which prints the password of root, to the server', async () => {
    const database = await freshDatabase()
    try {
      const early = await runVireo({ ...environment(), DATABASE_URL: database.url }, ['prune-storage', '--delete', '--yes'])
      expect(early).toEqual({ code: 1, said: '', complaint: expect.stringContaining('start the server once') })
      const { db, stop } = await makeTestRuntime({ url: database.url })
      expect(await db.query("select from users where username = 'root'")).toEqual([])
      await stop()
    } finally {
      await database.drop()
    }
  })

  it('lists jobs, pauses and resumes the queue in the running server, and retries a job', async () => {
    const { db, stop } = await makeTestRuntime({ url: node.databaseUrl })
    try {
      const [row] = await db.query<{ id: number }>(
        `insert into job (type, queue, state, error, data) values ('video-removal', 'io', 'failed', 'no', '{"videoId": 999999}')
         returning id`,
      )
      const id = String(row?.id)
      const listed = JSON.parse((await vireo('jobs', 'list', '--state', 'failed', '--json')).said)
      expect(listed).toMatchObject({ queue: 'running', total: 1, jobs: [{ id, type: 'activitypub-cleaner' }] })
      expect((await vireo('jobs', '--type', 'activitypub-cleaner', '--state', 'failed')).said).toMatch(
        new RegExp(`^The queue is running. 1 of 1:\n${id}  failed  activitypub-cleaner  .*videoId=999999.*error: no$`),
      )
      expect(await vireo('jobs', 'list', '--state', 'nowhere')).toMatchObject({ code: 2 })

      expect(await vireo('jobs', 'pause')).toMatchObject({ code: 0, said: 'The queue is paused.' })
      expect(JSON.parse((await vireo('jobs', 'retry', id, '--json')).said)).toEqual({ id, retried: true })
      expect((await vireo('jobs', 'show', id)).said).toMatch(/^state: waiting$/m)
      expect(await vireo('jobs', 'show', '999999')).toMatchObject({ code: 1, complaint: 'This job does not exist.' })
      expect(JSON.parse((await vireo('jobs', 'resume', '--json')).said)).toEqual({ queue: 'running' })
      await until(async () => (await db.query("select from job where id = $1 and state = 'completed'", [id])).length === 1)
      expect(await vireo('jobs', 'retry', id)).toMatchObject({ code: 1, complaint: 'This job did not fail.' })
    } finally {
      await stop()
    }
  })

  it("sets a new password for a user, and ends the user's sessions", async () => {
    const before = await login(node.base, node.username, node.password)
    const { said } = await vireo('reset-password', '--username', 'root')
    expect((await before.raw('/api/v1/users/me', {})).status).toBe(401)
    await expect(login(node.base, 'root', node.password)).rejects.toThrow()
    await login(node.base, 'root', passwordIn(said))
  })

  it('requests the move of stored files to the configured place, and names the videos that stay behind', async () => {
    expect(await vireo('move-storage', '--to', 'file-system')).toEqual({
      code: 0,
      complaint: '',
      said: 'Queued the move of 0 videos and of all other files.',
    })
    const { db, stop } = await makeTestRuntime({ url: node.databaseUrl })
    const { channelId } = await makeUser(db)
    const { uuid } = await makeVideo(db, { channelId, columns: { state: 'transcoding-failed' } })
    await stop()
    const { code, said } = await vireo('move-storage', '--to', 'file-system')
    expect([code, said.split('\n').at(-1)]).toEqual([0, uuid])
  })

  it('exits normally when its output is closed', async () => {
    const args = [MAIN, '--help']
    const child = spawn(process.execPath, args, { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    const complaints: Buffer[] = []
    child.stderr.on('data', (complaint: Buffer) => complaints.push(complaint))
    const [code] = await once(child, 'close')
    expect([code, Buffer.concat(complaints).toString()]).toEqual([0, ''])
  })
  it('blocks the servers of a list after showing it, and exports them', async () => {
    const [list, written] = ['blocked.csv', 'written.csv'].map((name) => join(node.dataDir, name))
    if (!list || !written) throw new Error('There are no files.')
    const lines = ['#domain,#severity', 'Bad.example,suspend', 'mild.example,silence', 'bad..example,suspend']
    await writeFile(list, lines.join('\n'))
    const problem = 'line 4: "bad..example" is not the name of a server.'
    expect(await vireo('blocklist', 'import', list)).toEqual({
      code: 1,
      complaint: '',
      said: [
        '1 servers are new, 0 are blocked already, 1 entries have a milder severity.',
        problem,
        'Nothing was changed. Correct these lines, or leave them out with --skip-bad.',
      ].join('\n'),
    })
    expect(await vireo('blocklist', 'import', list, '--apply', '--yes')).toMatchObject({ code: 1 })
    expect(await queryVireo(environment(), ['blocklist', 'import', list, '--skip-bad'])).toMatchObject({
      new: ['bad.example'],
      known: 0,
      milder: 1,
      bad: [{ line: 4 }],
      applied: false,
    })
    const root = await login(node.base, 'helper', await newPassword('helper'))
    const servers = '/api/v1/server/blocklist/servers'
    expect(await root.get(servers)).toMatchObject({ total: 0 })

    const apply = ['blocklist', 'import', list, '--skip-bad', '--apply', '--yes']
    expect((await vireo(...apply)).said).toMatch(/^1 servers were blocked\.$/m)
    expect(await queryVireo(environment(), apply)).toMatchObject({ new: [], known: 1, applied: true })
    expect(await root.get(servers)).toMatchObject({ total: 1, data: [{ blockedServer: { host: 'bad.example' } }] })
    const { db, stop } = await makeTestRuntime({ url: node.databaseUrl })
    await until(async () => (await db.query("select from outbox where event = 'ServerBlocked'")).length === 0)
    await stop()

    await vireo('blocklist', 'export', written)
    expect(await readFile(written, 'utf8')).toMatch(/^#domain,.*\nbad\.example,suspend,false,false,,false\n$/)
    await vireo('blocklist', 'export', written, '--format', 'plain')
    expect(await readFile(written, 'utf8')).toBe('bad.example\n')
    await root.send('DELETE', `${servers}/BAD.example.`)
    expect(await vireo('blocklist', 'import', '/nowhere')).toMatchObject({ code: 1 })
  })

  it('answers with one JSON document on request, also for errors', async () => {
    expect(await vireo('check-config', '--json')).toMatchObject({ code: 0, complaint: '' })
    expect(await queryVireo(environment(), ['check-config'])).toMatchObject({ valid: true, warnings: [] })
    expect(await queryVireo(environment(), ['migrate'])).toEqual({ applied: [] })
    const made = await queryVireo(environment(), ['create-user', '--username', 'second', '--email', 'second@example.org'])
    expect(made).toEqual({ username: 'second', password: expect.any(String) })
    const moved = await queryVireo<{ left: string[] }>(environment(), ['move-storage', '--to', 'file-system'])
    expect(moved).toEqual({ videos: 0, left: [expect.any(String)] })
    for (const [args, code, exit] of [
      [['--json', 'reset-password', '--username', 'nobody'], 'failed', 1],
      [['reset-password', '--json'], 'usage', 2],
      [['prune-storage', '--delete', '--json'], 'usage', 2],
    ] as const) {
      const answer = await vireo(...args)
      expect([answer.code, answer.said, JSON.parse(answer.complaint)]).toEqual([exit, '', { error: { code, message: expect.any(String) } }])
    }
  })

  it('shows pending migrations and applies them, and changes nothing before', async () => {
    const { db, stop } = await makeTestRuntime({ url: node.databaseUrl })
    const last = migrations.at(-1)?.name
    await db.query("update migration set name = '0000-before' where name = $1", [last])
    expect(await queryVireo(environment(), ['migrate', '--dry-run'])).toEqual({ pending: [last] })
    expect(await queryVireo(environment(), ['migrate', '--list'])).toEqual({ pending: [last] })
    const beside = await vireo('jobs', 'list')
    expect([beside.code, beside.complaint]).toEqual([1, expect.stringContaining('run vireo migrate while none')])
    expect(await db.pendingMigrations()).toEqual([last])
    await db.query("update migration set name = $1 where name = '0000-before'", [last])
    await stop()
    expect((await vireo('migrate', '--list')).said).toBe('The schema is up to date.')
  })

  it.each([
    [['reset-password', '--username', 'nobody'], /no user nobody/, 1],
    [['create-user', '--username', 'helper', '--email', 'other@example.org'], /already exists/, 1],
    [['create-user', '--username', 'new', '--email', 'new@example.org', '--role', 'king'], /king/, 2],
    [['create-user', '--username', 'Not a name', '--email', 'new@example.org'], /name of small letters/, 2],
    [['move-storage', '--to', 'object-storage'], /New files of this server go to another place/, 1],
    [['move-storage', '--to', 'the-moon'], /the-moon/, 2],
    [['move-storage', '--to', 'file-system', '--video', 'mine'], /number of a video/, 2],
    [['move-storage', '--to', 'file-system', '--video', '2147483648'], /number of a video/, 2],
    [['prune-storage', '--older-than', 'never'], /number above 0/, 2],
    [['fly'], /too many arguments/, 2],
  ])('reports in one line what is wrong with %j', async (args, what, exit) => {
    const { code, complaint } = await vireo(...args)
    expect(code).toBe(exit)
    expect(complaint).toMatch(what)
    expect(complaint.split('\n')).toHaveLength(1)
  })
})
