// Fuzzing: reading any JSON never throws.

import { describe, expect, test } from '@jest/globals'
import * as wire from '../../../src/federation/wire/index.ts'
import fc from '../../support/properties.ts'

type Reader = (document: unknown) => { ok: boolean }

const readers = Object.entries(wire).filter(([name]) => name.startsWith('read')) as [string, Reader][]

const KEYS = [
  '@context',
  'id',
  'type',
  'actor',
  'object',
  'to',
  'cc',
  'name',
  'content',
  'url',
  'tag',
  'icon',
  'image',
  'items',
  'orderedItems',
  'first',
  'next',
  'totalItems',
  'inReplyTo',
  'attributedTo',
  'published',
  'updated',
  'duration',
  'publicKey',
  'assertionMethod',
  'endpoints',
  'inbox',
  'outbox',
  'preferredUsername',
  'uuid',
  'subtitleLanguage',
  'hasPart',
  'hasParts',
  'startOffset',
  'endOffset',
  'preview',
  'href',
  'mediaType',
  'height',
  'size',
  'fps',
  'expires',
  'result',
  'instrument',
  'links',
  'rel',
  'subject',
  'software',
  'formerType',
  'source',
  'attachment',
  'position',
]
const TYPES = ['Create', 'Update', 'Undo', 'Delete', 'Video', 'Note', 'Person', 'Group', 'Link', 'Image', 'Hashtag', 'Follow']

const hostile = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, -1, 1e308, Number.NaN, '', '\u0000', '__proto__', ...TYPES),
    fc.webUrl(),
    fc.string({ unit: 'binary' }),
    fc.double(),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom(...KEYS), tie('value'), { maxKeys: 8 }),
}))

describe.each(readers)('%s', (_name, read) => {
  test('never throws, for any input', () => {
    fc.assert(
      fc.property(hostile.value, fc.constantFrom(...TYPES), (value, type) => {
        const document = typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value, type } : value
        expect(typeof read(document).ok).toBe('boolean')
      }),
      { numRuns: 150 },
    )
  })
})
