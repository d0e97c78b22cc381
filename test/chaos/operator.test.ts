// The operator's commands at the command line, beside a running server.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { login } from '../../scripts/demo/client.ts'
import { startTestNode, type TestNode } from '../support/node.ts'

const MAIN = join(fileURLToPath(new URL('../../', import.meta.url)), 'src/main.ts')
const run = promisify(execFile)

let node: TestNode
beforeAll(async () => {
  node = await startTestNode()
}, 60_000)
afterAll(() => node?.stop())

/** Runs a command on the data of the node; answers what it printed. */
async function vireo(...args: string[]): Promise<string> {
  const env = {
    ...{ PATH: process.env.PATH, DATABASE_URL: node.databaseUrl, VIREO_DATA_DIR: node.dataDir },
    VIREO__WEBSERVER__HOSTNAME: '127.0.0.1',
    VIREO__WEBSERVER__PORT: new URL(node.base).port,
  }
  return (await run(process.execPath, [MAIN, ...args], { env })).stdout
}

const passwordIn = (said: string): string => /^User password: (\S+)$/m.exec(said)?.[1] ?? ''

describe('the command line', () => {
  it('makes a user who can log in, with the role that is asked for', async () => {
    const said = await vireo(
      'create-user',
      '--username',
      'helper',
      '--email',
      'helper@example.org',
      '--role',
      'moderator',
    )
    const client = await login(node.base, 'helper', passwordIn(said))
    expect(await client.get('/api/v1/users/me')).toMatchObject({ username: 'helper', role: { label: 'Moderator' } })
  }, 60_000)

  it('gives a user a new password and ends the sessions', async () => {
    const before = await login(node.base, node.username, node.password)
    const said = await vireo('reset-password', '--username', 'root')
    expect((await before.raw('/api/v1/users/me', {})).status).toBe(401)
    await expect(login(node.base, 'root', node.password)).rejects.toThrow()
    await login(node.base, 'root', passwordIn(said))
  }, 60_000)

  it.each([
    [['reset-password', '--username', 'nobody'], /no user nobody/],
    [['create-user', '--username', 'helper', '--email', 'other@example.org'], /already exists/],
    [['create-user', '--username', 'new', '--email', 'new@example.org', '--role', 'king'], /king/],
    [['create-user', '--username', 'Not a name', '--email', 'new@example.org'], /name of small letters/],
  ])(
    'says in one line what is wrong with %j',
    async (args, what) => {
      const failure = await vireo(...args).then(
        () => undefined,
        (error: { code: number; stderr: string }) => error,
      )
      expect(failure?.code).toBe(1)
      expect(failure?.stderr).toMatch(what)
      expect(failure?.stderr.trim().split('\n')).toHaveLength(1)
    },
    60_000,
  )
})
