import { describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { readBody } from '../../../src/http/plugins/body-types.ts'
import { invalidParamsOf } from '../../../src/http/plugins/invalid-params.ts'
import { AT_MOST_MS, startCpuTime } from '../../support/cpu-time.ts'

const schema = z.object({
  role: z.int().min(0).max(2),
  state: z.literal([1, 2, 3]).optional(),
  ratio: z.number().optional(),
  unfederate: z.boolean().optional(),
  policy: z.union([z.boolean(), z.literal('both')]).optional(),
  category: z.int().nullable().optional(),
  name: z.string().min(1).optional(),
  ids: z.array(z.int()).max(3).optional(),
  transcoding: z.object({ resolutions: z.object({ '240p': z.boolean() }), threads: z.int().min(0) }).optional(),
})

describe('strings in a body', () => {
  it('are converted to numbers and booleans, in lists and in objects too', () => {
    const sent = {
      role: '2',
      state: '3',
      ratio: '1.5',
      unfederate: 'true',
      policy: 'false',
      category: 'null',
      ids: ['1', 2],
      transcoding: { resolutions: { '240p': 'false' }, threads: '0' },
    }
    expect(readBody(schema, sent).data).toEqual({
      role: 2,
      state: 3,
      ratio: 1.5,
      unfederate: true,
      policy: false,
      category: null,
      ids: [1, 2],
      transcoding: { resolutions: { '240p': false }, threads: 0 },
    })
  })

  it('stay strings where strings are expected', () => {
    expect(readBody(schema, { role: 0, name: 'true', policy: 'both' }).data).toEqual({
      role: 0,
      name: 'true',
      policy: 'both',
    })
  })

  it.each(['hello', '', ' 2', '0x2', '2e0', 'TRUE', '1.5', '3', '-1', [2], { 2: 2 }])(
    'that are no valid number are refused with their original value: %j',
    (role) => {
      expect(invalidParamsOf(schema, 'body', { role, unfederate: 'true' })).toMatchObject([{ name: 'role', value: role }])
    },
  )

  it('are refused individually', () => {
    const sent = { role: '1', state: '4', unfederate: 'yes', ids: ['1', 'x'], transcoding: { threads: '2' } }
    expect(invalidParamsOf(schema, 'body', sent).map(({ name }) => name)).toEqual([
      'state',
      'unfederate',
      'ids',
      'transcoding.resolutions.240p',
    ])
  })

  it('are not converted to null for a required value', () => {
    expect(invalidParamsOf(schema, 'body', { role: 'null' })).toMatchObject([{ name: 'role', value: 'null' }])
  })

  it('are not converted in queries, whose schemas expect strings', () => {
    expect(invalidParamsOf(schema, 'querystring', { role: '1' }).map(({ name }) => name)).toEqual(['role'])
  })

  it('are cheap beside thousands of unknown fields', () => {
    const names = Array.from({ length: 50 }, (_, index) => `flag${index}`)
    const flags = z.object(Object.fromEntries(names.map((name) => [name, z.boolean()])))
    const unnamed = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`k${index}`, '1']))
    const sent = { ...unnamed, ...Object.fromEntries(names.map((name) => [name, 'true'])) }
    const spent = startCpuTime()
    const { success } = readBody(flags, sent)
    // Two seconds if all fields were copied for each text.
    expect(spent()).toBeLessThan(4 * AT_MOST_MS)
    expect(success).toBe(true)
  })
})
