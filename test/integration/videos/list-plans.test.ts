// Query plans of every list in every order and with every filter: pages are read by indexes, in a library of some size.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { findInLibrary, type Library, seedLibrary, settleLibrary } from '../../../bench/library.ts'
import { listCases } from '../../../bench/lists.ts'
import { migrations } from '../../../migrations/index.ts'
import { buildMatches, buildVideoList } from '../../../src/actors/video/lists/list-videos.ts'
import { findSamples } from '../../../src/actors/video/lists/overview.ts'
import { entities } from '../../../src/entities.ts'
import { type Database, makeDatabase } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { TEST_ORIGIN } from '../../support/builders.ts'
import { freshDatabase, type TestDatabase } from '../../support/postgres.ts'

const LARGE = ['video', 'comment', 'actor', 'channel']

let database: TestDatabase
let db: Database
let library: Library

beforeAll(async () => {
  database = await freshDatabase()
  db = await makeDatabase({ url: database.url, poolMax: 2, entities, migrations, logger: silentLogger })
  const size = { videos: 8_000, comments: 8_000, channels: 1_600 }
  await db.transaction(({ query }) => seedLibrary(query, { ...size, origin: TEST_ORIGIN }))
  await settleLibrary(db.query)
  library = await findInLibrary(db.query)
})
afterAll(async () => {
  await db.close()
  await database.drop()
})

/** Also matches similar names, which are searched when nothing contains the text. */
const cases = listCases().flatMap(([name, queryOf]) => [
  { name, queryOf, alike: false },
  ...(/word|nothing/.test(name) ? [{ name: `${name}, alike`, queryOf, alike: true }] : []),
])

interface Plan {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  Plans?: Plan[]
}

async function nodesOf(statement: { text: string; values: unknown[] }): Promise<Plan[]> {
  const [explained] = await db.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`explain (format json) ${statement.text}`, statement.values)
  const below = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(below)]
  return (explained?.['QUERY PLAN'] ?? []).flatMap(({ Plan: plan }) => below(plan))
}

/** The large tables that the statement scans sequentially. */
const readWhole = async (statement: { text: string; values: unknown[] }): Promise<string[]> =>
  (await nodesOf(statement)).flatMap((plan) => {
    const table = plan['Relation Name'] ?? ''
    return plan['Node Type'] === 'Seq Scan' && LARGE.includes(table) ? [table] : []
  })

describe('in a library of eight thousand videos', () => {
  it.each(cases)('$name: scans no large table', async ({ queryOf, alike }) => {
    const query = { ...queryOf(library), alike }
    expect(await readWhole(buildVideoList(query))).toEqual([])
    if (query.search && query.sort.by === 'match') expect(await readWhole(buildMatches(query))).toEqual([])
  })

  it('where most videos are hidden, a search for a frequent word and the overview read the visible ones', async () => {
    await db.query('update video set listed = false where id % 10 <> 0')
    await db.query('vacuum analyze video')
    const search = listCases().find(([name]) => name === 'a frequent word, -match')?.[1](library)
    if (!search) throw new Error('There is no such case.')
    const indexesOf = async (statement: { text: string; values: unknown[] }) =>
      (await nodesOf(statement)).flatMap((plan) => plan['Index Name'] ?? [])
    expect(await indexesOf(buildMatches(search))).toContain('video_shown_words')
    expect(await indexesOf(buildVideoList(search))).toEqual(expect.arrayContaining([expect.stringMatching(/^video_shown_(best|words)$/)]))
    const texts: string[] = []
    await findSamples(
      {
        query: async (text, values, options) => {
          texts.push(text)
          return await db.query(text, values, options)
        },
      },
      { minVideos: 1, most: 1 },
    )
    expect(await indexesOf({ text: texts.join(), values: [1, 1] })).toContain('video_shown_published_at')
  })
})
