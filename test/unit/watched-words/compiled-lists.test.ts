// When lists of watched words are compiled, and when again.

import { expect, it } from '@jest/globals'
import { makeFindLists } from '../../../src/actors/watched-words/compiled-lists.ts'
import type { Database } from '../../../src/platform/database/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'

/** The words of a list, by its id and version. */
function stage(stored: Record<string, string[] | Error>) {
  const asked: string[] = []
  const query = (async (_text: string, [id, version]: readonly unknown[] = []) => {
    const key = `${id} ${version}`
    asked.push(key)
    const words = stored[key]
    if (words instanceof Error) throw words
    return words === undefined ? [] : [{ words }]
  }) as Database['query']
  return { asked, stored, find: makeFindLists({ db: { query }, logger: silentLogger }) }
}

const fruit = { id: 1, version: 1 }
const trees = { id: 2, version: 1 }

it('compiles each version of a list once, also for texts that arrive together', async () => {
  const { find, asked } = stage({ '1 1': ['apple'], '2 1': ['oak'], '1 2': ['pear'] })
  const found = await Promise.all([find([fruit, trees], 'an apple'), find([fruit, trees], 'an oak'), find([fruit], 'a stone')])
  expect(found).toEqual([[fruit], [trees], []])
  expect(asked.toSorted()).toEqual(['1 1', '2 1'])
  const changed = { ...fruit, version: 2 }
  expect(await find([changed, trees], 'a pear below an oak')).toEqual([changed, trees])
  expect(await find([changed], 'an apple')).toEqual([])
  expect(asked).toHaveLength(3)
})

it('finds nothing in a list that went meanwhile, and looks for it again', async () => {
  const { find, asked, stored } = stage({})
  expect(await find([fruit], 'an apple')).toEqual([])
  stored['1 1'] = ['apple']
  expect(await find([fruit], 'an apple')).toEqual([fruit])
  expect(asked).toEqual(['1 1', '1 1'])
})

it('passes on an error of the database, and does not keep it', async () => {
  const { find, stored } = stage({ '1 1': new Error('away') })
  await expect(find([fruit], 'an apple')).rejects.toThrow('away')
  stored['1 1'] = ['apple']
  expect(await find([fruit], 'an apple')).toEqual([fruit])
})
