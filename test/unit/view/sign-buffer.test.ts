// Reports of viewers are stored in batches, and answered once they are stored.

import { expect, it } from '@jest/globals'
import { makeSignBuffer, type StoredSign } from '../../../src/actors/view/sign-buffer.ts'

const sign = (seconds: number): StoredSign => ({
  videoId: 1,
  viewer: '00000000-0000-4000-8000-000000000001',
  seconds,
  isSeek: false,
  seenAt: new Date(0),
})

/** A database whose statements end when the test says so. */
function slowDatabase() {
  const statements: { seconds: unknown; done: PromiseWithResolvers<never[]> }[] = []
  const query = (_text: string, values: readonly unknown[] = []): Promise<never[]> => {
    const done = Promise.withResolvers<never[]>()
    statements.push({ seconds: values[2], done })
    return done.promise
  }
  return { statements, query: query as never }
}

it('reports that arrive during a statement are stored by the next one', async () => {
  const { statements, query } = slowDatabase()
  const store = makeSignBuffer({ db: { query } })
  const first = store(sign(1))
  const others = [2, 3, 4].map((seconds) => store(sign(seconds)))
  expect(statements).toHaveLength(1)
  statements[0]?.done.resolve([])
  await first
  expect(statements.map(({ seconds }) => seconds)).toEqual([[1], [2, 3, 4]])
  statements[1]?.done.resolve([])
  await Promise.all(others)
  const last = store(sign(5))
  statements[2]?.done.resolve([])
  await last
})

it('a failed statement rejects the reports that it contained, and no others', async () => {
  const { statements, query } = slowDatabase()
  const store = makeSignBuffer({ db: { query } })
  const first = store(sign(1))
  const second = store(sign(2))
  statements[0]?.done.reject(new Error('the database is away'))
  await expect(first).rejects.toThrow('the database is away')
  statements[1]?.done.resolve([])
  await second
})
