// Entities that differ from the migrations fail `npm run check`.

import { expect, it } from '@jest/globals'
import { driftOf } from '../../../scripts/check-entities.ts'

const id = { name: 'follow.id', type: 'integer' }
const url = { name: 'follow.url', type: 'text, null' }

it('the same columns are no drift', () => {
  expect(driftOf([id, url], [url, id])).toEqual([])
})

it.each([
  ['a column that no entity has', [id, url], [id], 'follow.url is text, null after the migrations; the entities define nothing'],
  ['a column that no migration makes', [id], [id, url], 'follow.url is text, null in the entities; no migration makes it'],
  [
    'a column of another type',
    [id, url],
    [id, { ...url, type: 'text' }],
    'follow.url is text, null after the migrations; the entities define text',
  ],
])('%s is drift', (_, migrated, described, fault) => {
  expect(driftOf(migrated, described)).toEqual([fault])
})
