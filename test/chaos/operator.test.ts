// The operator's commands at the command line, beside a running server: the first as a process, the others as it runs them.

import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { login } from '../../scripts/demo/client.ts'
import { cli } from '../../src/cli/cli.ts'
import { makeUser, makeVideo } from '../support/builders.ts'
import { startTestNode, type TestNode } from '../support/node.ts'
import { makeTestRuntime } from '../support/runtime.ts'
import { until } from '../support/until.ts'

const MAIN = join(fileURLToPath(new URL('../../', import.meta.url)), 'src/main.ts')
const run = promisify(execFile)

let node: TestNode
beforeAll(async () => {
  node = await startTestNode()
}, 60_000)
afterAll(() => node?.stop())

const environment = () => ({
  ...{ PATH: process.env.PATH, DATABASE_URL: node.databaseUrl, VIREO_DATA_DIR: node.dataDir },
  VIREO__WEBSERVER__HOSTNAME: '127.0.0.1',
  VIREO__WEBSERVER__PORT: new URL(node.base).port,
})

/** Runs a command on the data of the node; answers what it printed, and its exit code. */
async function vireo(...args: string[]): Promise<{ code: number; said: string; complaint: string }> {
  const [said, complaint]: [string[], string[]] = [[], []]
  const { log, error } = console
  console.log = (line: string) => void said.push(line)
  console.error = (line: string) => void complaint.push(line)
  try {
    const code = await cli(args, { env: environment(), cwd: tmpdir() })
    return { code, said: said.join('\n'), complaint: complaint.join('\n') }
  } finally {
    Object.assign(console, { log, error })
  }
}

const passwordIn = (said: string): string => /^User password: (\S+)$/m.exec(said)?.[1] ?? ''

describe('the command line', () => {
  it('makes a user who can log in, with the role that is asked for', async () => {
    const user = ['--username', 'helper', '--email', 'helper@example.org', '--role', 'moderator']
    const { stdout } = await run(process.execPath, [MAIN, 'create-user', ...user], { env: environment() })
    const client = await login(node.base, 'helper', passwordIn(stdout))
    expect(await client.get('/api/v1/users/me')).toMatchObject({ username: 'helper', role: { label: 'Moderator' } })
  }, 60_000)

  it('shows the queue of jobs, pauses and resumes it in the running server, and gives a job another try', async () => {
    const { db, stop } = await makeTestRuntime({ url: node.databaseUrl })
    try {
      const [row] = await db.query<{ id: number }>(
        `insert into job (type, queue, state, error, data) values ('video-removal', 'io', 'failed', 'no', '{"videoId": 999999}')
         returning id`,
      )
      const id = String(row?.id)
      const listed = JSON.parse((await vireo('jobs', 'list', '--state', 'failed', '--json')).said)
      expect(listed).toMatchObject({ queue: 'running', total: 1, jobs: [{ id, type: 'activitypub-cleaner' }] })
      expect((await vireo('jobs', '--type', 'activitypub-cleaner')).said).toMatch(
        new RegExp(`^The queue is running. 1 of 1:\n${id}  failed  activitypub-cleaner  .*videoId=999999.*error: no$`),
      )
      expect(await vireo('jobs', 'list', '--state', 'nowhere')).toMatchObject({ code: 1 })

      expect(await vireo('jobs', 'pause')).toMatchObject({ code: 0, said: 'The queue is paused.' })
      expect(JSON.parse((await vireo('jobs', 'retry', id, '--json')).said)).toEqual({ id, retried: true })
      expect((await vireo('jobs', 'show', id)).said).toMatch(/^state: waiting$/m)
      expect(await vireo('jobs', 'show', '999999')).toMatchObject({ code: 1, complaint: 'This job does not exist.' })
      expect(JSON.parse((await vireo('jobs', 'resume', '--json')).said)).toEqual({ queue: 'running' })
      await until(
        async () => (await db.query("select from job where id = $1 and state = 'completed'", [id])).length === 1,
      )
      expect(await vireo('jobs', 'retry', id)).toMatchObject({ code: 1, complaint: 'This job did not fail.' })
    } finally {
      await stop()
    }
  }, 60_000)

  it('gives a user a new password and ends the sessions', async () => {
    const before = await login(node.base, node.username, node.password)
    const { said } = await vireo('reset-password', '--username', 'root')
    expect((await before.raw('/api/v1/users/me', {})).status).toBe(401)
    await expect(login(node.base, 'root', node.password)).rejects.toThrow()
    await login(node.base, 'root', passwordIn(said))
  }, 60_000)

  it('asks for the move of what is stored to where new files go, and names the videos that stay behind', async () => {
    expect(await vireo('move-storage', '--to', 'file-system')).toEqual({
      ...{ code: 0, complaint: '' },
      said: 'Asked for the move of 0 videos and of all other files.',
    })
    const { db, stop } = await makeTestRuntime({ url: node.databaseUrl })
    const { channelId } = await makeUser(db)
    const { uuid } = await makeVideo(db, { channelId, columns: { state: 'transcoding-failed' } })
    await stop()
    const { code, said } = await vireo('move-storage', '--to', 'file-system')
    expect([code, said.split('\n').at(-1)]).toEqual([0, uuid])
  }, 60_000)

  it.each([
    [['reset-password', '--username', 'nobody'], /no user nobody/],
    [['create-user', '--username', 'helper', '--email', 'other@example.org'], /already exists/],
    [['create-user', '--username', 'new', '--email', 'new@example.org', '--role', 'king'], /king/],
    [['create-user', '--username', 'Not a name', '--email', 'new@example.org'], /name of small letters/],
    [['move-storage', '--to', 'object-storage'], /New files of this server go to another place/],
    [['move-storage', '--to', 'the-moon'], /the-moon/],
    [['move-storage', '--to', 'file-system', '--video', 'mine'], /number of a video/],
    [['move-storage', '--to', 'file-system', '--video', '2147483648'], /number of a video/],
  ])(
    'says in one line what is wrong with %j',
    async (args, what) => {
      const { code, complaint } = await vireo(...args)
      expect(code).toBe(1)
      expect(complaint).toMatch(what)
      expect(complaint.split('\n')).toHaveLength(1)
    },
    60_000,
  )
})
