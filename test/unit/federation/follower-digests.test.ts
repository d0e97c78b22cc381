import { expect, it } from '@jest/globals'
import { makeFollowerDigests } from '../../../src/federation/delivery/follower-digests.ts'

const BITS = `1${'0'.repeat(255)}`

/** Digests over a table with one row for each of these numbers of followers. */
function digestsOver(followers: Record<string, number>) {
  const requested: unknown[] = []
  const query = async <Row extends object>(_sql: string, values: readonly unknown[] = []) => {
    requested.push(...values)
    return Object.entries(followers).map(([origin, count]) => ({
      origin,
      followers: count,
      bits: BITS,
    })) as unknown as Row[]
  }
  return { requested, digestOf: makeFollowerDigests({ db: { query } }) }
}

it('all servers of an actor are counted by one statement, which is not repeated immediately', async () => {
  const { requested, digestOf } = digestsOver({ 'https://a.example': 1, 'https://b.example': 2 })
  const digests = await Promise.all(['https://a.example', 'https://b.example', 'https://c.example'].map((origin) => digestOf(1, origin)))
  expect(digests).toEqual([`8${'0'.repeat(63)}`, `8${'0'.repeat(63)}`, '0'.repeat(64)])
  await digestOf(1, 'https://a.example')
  expect(requested).toEqual([1])
  await digestOf(2, 'https://a.example')
  expect(requested).toEqual([1, 2])
})

it('a server with too many followers gets no digest, rather than a partial one', async () => {
  const { digestOf } = digestsOver({ 'https://huge.example': 20_001, 'https://large.example': 20_000 })
  expect(await digestOf(1, 'https://huge.example')).toBeNull()
  expect(await digestOf(1, 'https://large.example')).not.toBeNull()
})
