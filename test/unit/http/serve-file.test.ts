// Files that are replaced or removed while they are served: a reader gets one version completely, or a 404.

import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from '@jest/globals'
import fastify from 'fastify'
import { openFirst, serveFile } from '../../../src/http/static/serve-file.ts'
import { type FileStat, MediaError, type Store } from '../../../src/media/index.ts'
import { testConfig } from '../../support/config.ts'

const statOf = (content: string): FileStat => ({
  name: 'video.mp4',
  size: content.length,
  etag: `"${content}"`,
  modifiedAt: new Date(0),
})
const opened = (content: string) => ({ stat: statOf(content), stream: Readable.from([content]) })

let looks = 0
const app = fastify()
let open: (look: number) => { stat: FileStat; stream: Readable }
const store: Pick<Store, 'stat' | 'open' | 'placeOf'> = {
  stat: async () => statOf('old'),
  async open() {
    looks += 1
    return open(looks)
  },
  placeOf: async () => 'file-system',
}
app.get('/', (request, reply) =>
  serveFile(request, reply, {
    store: store as Store,
    refs: [{ kind: 'web_videos', name: 'video.mp4' }],
    caching: {},
    delivery: testConfig().vireo.delivery,
    absent: () => new Error('gone'),
  }),
)
afterEach(() => {
  looks = 0
})

describe('a file', () => {
  it('that is replaced during the lookup is looked up again', async () => {
    open = (look) => opened(look === 1 ? 'a new one' : 'old')
    const answer = await app.inject({ url: '/', headers: { range: 'bytes=0-0' } })
    expect([answer.statusCode, answer.body, answer.headers.etag]).toEqual([206, 'old', '"old"'])
    expect(looks).toBe(2)
  })

  it('that is replaced repeatedly is served later', async () => {
    open = () => opened('a new one')
    const answer = await app.inject('/')
    expect([answer.statusCode, looks]).toEqual([503, 3])
  })

  it('that is removed after the lookup is a 404', async () => {
    open = () => {
      throw new MediaError('not-found', 'no such file')
    }
    expect((await app.inject('/')).json()).toMatchObject({ message: 'gone' })
  })
})

describe('a file that is moved between two places during the lookup', () => {
  const [here, there] = ['private/video.mp4', 'video.mp4'].map((name) => ({ kind: 'web_videos' as const, name }))
  const refs = [here, there].filter((ref) => ref !== undefined)
  /** Moves the file, which is at `from` first, before this call. */
  const moving = (from: string, call: number): Store => {
    let calls = 0
    const placeAt = (): string => {
      calls += 1
      return calls < call ? from : (refs.find(({ name }) => name !== from)?.name ?? '')
    }
    return {
      stat: async ({ name }) => (placeAt() === name ? statOf('bytes') : undefined),
      async open({ name }) {
        if (placeAt() !== name) throw new MediaError('not-found', 'no such file')
        return opened('bytes')
      },
    } satisfies Pick<Store, 'stat' | 'open'> as unknown as Store
  }
  const moves = refs.flatMap(({ name }) => [2, 3, 4].map((call): [string, number] => [name, call]))

  it.each(moves)('is sent: %s, before call %i', async (from, call) => {
    const moved = moving(from, call)
    const sender = fastify()
    sender.get('/', (request, reply) =>
      serveFile(request, reply, { store: moved, refs, caching: {}, delivery: testConfig().vireo.delivery }),
    )
    const answer = await sender.inject('/')
    expect([answer.statusCode, answer.body]).toEqual([200, 'bytes'])
  })

  it.each(moves)('is read: %s, before call %i', async (from, call) => {
    const found = await openFirst(moving(from, call), refs)
    expect(found && (await text(found.stream))).toBe('bytes')
  })
})
