// SQL that does not fit the tables, or its row type, fails `npm run check`.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Client } from 'pg'
import { describeStatement, rowFaults, statementsIn } from '../../../scripts/check-statements.ts'
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts'

let database: TestDatabase
let client: Client
beforeAll(async () => {
  database = await freshDatabase()
  client = new Client(database.url)
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

/** The faults of some lines of code. */
async function faultsOf(code: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'statements-'))
  try {
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { strict: true }, include: ['*.ts'] }))
    await writeFile(join(folder, 'a.ts'), `declare function query<R>(text: string, values?: unknown[]): Promise<R[]>\n${code}\nexport {}`)
    const { statements, others } = statementsIn(join(folder, 'tsconfig.json'), folder)
    const faults = await Promise.all(
      statements.map(async (statement) =>
        describeStatement(client, statement.text).then(
          (fields) => rowFaults(statement, fields),
          (error: Error) => [`${statement.place} ${error.message}`],
        ),
      ),
    )
    return [...faults.flat().map((fault) => fault.replace(`${folder}/`, '')), ...(others > 0 ? [`${others} others`] : [])]
  } finally {
    await rm(folder, { recursive: true })
  }
}

it.each([
  ["query<{ id: number; name: string | null }>('select id, name from video')"],
  ["query<{ at: Date | string; tags?: string[] }>('select published_at as at from video where id = $1', [1])"],
  [
    `const STATES = { done: 'published' } as const; query<{ n: number }>(\`select count(*) as n from video where state = '\${STATES.done}'\`)`,
  ],
  ["query('update video set name = $2 where id = $1', [1, 'x'])"],
])('%s is right', async (code) => {
  expect(await faultsOf(code)).toEqual([])
})

it.each([
  ["query('select nothing from video')", 'a.ts:2 column "nothing" does not exist'],
  ["query('update videos set name = $1')", 'a.ts:2 relation "videos" does not exist'],
  [`const WHERE = 'where idd = $1'\nquery(\`delete from video \${WHERE}\`, [1])`, 'a.ts:3 column "idd" does not exist'],
  ["query<{ id: string }>('select id from video')", 'a.ts:2 id is number, not string'],
  ["query<{ at: string }>('select published_at as at from video')", 'a.ts:2 at is Date, not string'],
  ["query<{ id: number; uuid: string }>('select id from video')", 'a.ts:2 has no column uuid'],
  [`declare const where: string; query(\`select id from video \${where}\`)`, '1 others'],
])('%s is not', async (code, fault) => {
  expect(await faultsOf(code)).toEqual([fault])
})
