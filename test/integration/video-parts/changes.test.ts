// Captions and chapters over REST, beyond the recorded exchanges: invalid files, privacy, and chapters that follow the description.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import { media } from '../../support/media.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'

let node: TestNode
let root: Client
let channelId: string
let bytes: Buffer
beforeAll(async () => {
  node = await startTestNode({ config: { transcoding: { enabled: false } } })
  root = await login(node.base, node.username, node.password)
  const me = await root.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  channelId = String(me.videoChannels[0]?.id)
  bytes = await readFile(await media('small.mp4'))
})
afterAll(() => node?.stop())

async function upload(fields: Record<string, string> = {}, file = bytes): Promise<{ id: number; uuid: string }> {
  const form = new FormData()
  for (const [name, value] of Object.entries({ channelId, name: 'A video', privacy: '1', ...fields })) form.set(name, value)
  form.set('videofile', new File([new Uint8Array(file)], 'small.mp4', { type: 'video/mp4' }))
  return (await root.send<{ video: { id: number; uuid: string } }>('POST', '/api/v1/videos/upload', form)).video
}
const VTT = 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nHello\n'
function setCaption(uuid: string, content: string | Buffer, name = 'caption.vtt', language = 'fr'): Promise<Response> {
  const form = new FormData()
  const part = typeof content === 'string' ? content : new Uint8Array(content)
  form.set('captionfile', new File([part], name, { type: 'text/vtt' }))
  return root.raw(`/api/v1/videos/${uuid}/captions/${language}`, { method: 'PUT', body: form })
}
const captionPathOf = async (uuid: string) =>
  (await root.get<{ data: { captionPath: string }[] }>(`/api/v1/videos/${uuid}/captions`)).data[0]?.captionPath ?? ''
const titlesOf = async (uuid: string) =>
  (await root.get<{ chapters: { title: string }[] }>(`/api/v1/videos/${uuid}/chapters`)).chapters.map(({ title }) => title)
const stranger = (path: string, headers: Record<string, string> = {}) => fetch(new URL(path, node.base), { headers })

describe('the file of a caption', () => {
  it('is refused when it is not text, has another extension or is too large, and the previous one remains', async () => {
    const { uuid } = await upload()
    expect((await setCaption(uuid, VTT)).status).toBe(204)
    const before = await captionPathOf(uuid)
    for (const [content, name, status] of [
      [bytes, 'caption.srt', 400],
      [Buffer.from([1, 0, 2]), 'caption.vtt', 400],
      [Buffer.alloc(20 * 1024 * 1024 + 1, 'x'), 'caption.vtt', 400],
    ] as const) {
      const answer = await setCaption(uuid, content, name)
      expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json; charset=utf-8'])
      const problem = (await answer.json()) as { 'invalid-params'?: object }
      if (status === 400) expect(Object.keys(problem['invalid-params'] ?? {})).toEqual(['captionfile'])
    }
    expect(await captionPathOf(uuid)).toBe(before)
    expect(await (await stranger(before)).text()).toBe(VTT)
  })

  it('has a new URL once it is replaced, and the old one is gone', async () => {
    const { uuid } = await upload()
    await setCaption(uuid, VTT)
    const before = await captionPathOf(uuid)
    await setCaption(uuid, VTT.replace('Hello', '<script>Bye</script>'))
    const after = await captionPathOf(uuid)
    expect((await stranger(before)).status).toBe(404)
    expect(await (await stranger(after)).text()).toBe(VTT.replace('Hello', '&lt;script>Bye&lt;/script>'))
  })

  it('is decoded in the usual encoding of its language, and names the line that would be lost', async () => {
    const { uuid } = await upload()
    const cyrillic = Buffer.from('1\n00:00:01,000 --> 00:00:02,000\n\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0\n', 'latin1')
    expect((await setCaption(uuid, cyrillic, 'caption.srt', 'ru')).status).toBe(204)
    const before = await captionPathOf(uuid)
    expect(await (await stranger(before)).text()).toContain('\r\nПривет, мир\r\n')
    const backward = Buffer.concat([cyrillic, Buffer.from('\n2\n00:00:04,000 --> 00:00:03,000\nlost\n')])
    const refused = await setCaption(uuid, backward, 'caption.srt', 'ru')
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      'invalid-params': { captionfile: { msg: 'Line 6 would be lost: a cue ends before it begins.' } },
    })
    expect(await captionPathOf(uuid)).toBe(before)
  })
})

describe('the captions of a private video', () => {
  it('are readable with its password', async () => {
    const { uuid } = await upload({ privacy: '5', 'videoPasswords[0]': 'open sesame' })
    await setCaption(uuid, VTT)
    for (const path of [
      new URL(await captionPathOf(uuid), root.base).pathname,
      `/api/v1/videos/${uuid}/captions`,
      `/api/v1/videos/${uuid}/chapters`,
    ]) {
      const statuses = await Promise.all(
        ['', 'wrong', 'open sesame'].map(async (password) => (await stranger(path, { 'x-peertube-video-password': password })).status),
      )
      expect([path, statuses]).toEqual([path, [403, 403, 200]])
    }
  })

  it('are not cached by proxies', async () => {
    const { uuid } = await upload({ privacy: '3' })
    await setCaption(uuid, VTT)
    const answer = await root.raw(await captionPathOf(uuid))
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-cache'])
    expect(answer.headers.get('cdn-cache-control')).toBe('no-store')
    await root.send('PUT', `/api/v1/videos/${uuid}`, { privacy: 1 })
    expect((await stranger(await captionPathOf(uuid))).headers.get('cache-control')).toMatch(/^public/)
  })

  it('are found by the UUID of an unlisted one, not by its id', async () => {
    const { id, uuid } = await upload({ privacy: '2' })
    for (const part of ['captions', 'chapters', 'storyboards']) {
      expect((await stranger(`/api/v1/videos/${uuid}/${part}`)).status).toBe(200)
      expect((await stranger(`/api/v1/videos/${id}/${part}`)).status).toBe(401)
    }
  })
})

describe('chapters', () => {
  it('follow the description until they are edited', async () => {
    const { uuid } = await upload({ description: '0:00 one\n0:01 two' })
    const describe = (description: string | null) => root.send('PUT', `/api/v1/videos/${uuid}`, { description })
    expect(await titlesOf(uuid)).toEqual(['one', 'two'])
    await describe('0:00 three')
    expect(await titlesOf(uuid)).toEqual(['three'])
    await describe(null)
    expect(await titlesOf(uuid)).toEqual([])
    await describe('0:00 four')
    await root.send('PUT', `/api/v1/videos/${uuid}/chapters`, { chapters: [{ timecode: 0, title: 'own' }] })
    await describe('0:00 five')
    expect(await titlesOf(uuid)).toEqual(['own'])
  })

  it('of the file are used when the description has none', async () => {
    const file = await readFile(await media('chapters.mp4'))
    expect(await titlesOf((await upload({}, file)).uuid)).toEqual(['Part 0', 'Part 1'])
    const { uuid } = await upload({ description: '0:00 one' }, file)
    expect(await titlesOf(uuid)).toEqual(['one'])
  })

  it('within the limits are accepted, and a list with one beyond them is refused', async () => {
    const { uuid } = await upload()
    const put = async (chapters: unknown) => {
      const init = {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ chapters }),
      }
      return (await root.raw(`/api/v1/videos/${uuid}/chapters`, init)).status
    }
    const many = (length: number) => Array.from({ length }, (_, timecode) => ({ timecode, title: 'x' }))
    expect(await put(many(500))).toBe(204)
    const lists = [many(501), [{ timecode: 2_147_483_648, title: 'x' }], [{ timecode: 1.5, title: 'x' }], [7]]
    for (const bad of [...lists, [{ timecode: 1, title: '   ' }], [{ timecode: 1, title: '\u0001' }]]) {
      expect(await put(bad)).toBe(400)
    }
    expect(await titlesOf(uuid)).toHaveLength(500)
    expect(await put([{ timecode: 3, title: ' The end ' }])).toBe(204)
    expect(await titlesOf(uuid)).toEqual(['The end'])
  })
})

it('a transcription cannot be requested without runners', async () => {
  const { uuid } = await upload()
  const ask = (of: string, body = '{}') =>
    root.raw(`/api/v1/videos/${of}/captions/generate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
  const answer = await ask(uuid)
  expect([answer.status, (await answer.json()).detail]).toEqual([400, 'Video transcription is disabled on this instance'])
  expect((await ask('424242')).status).toBe(404)
  const wrong = await ask(uuid, '{"forceTranscription":"hello"}')
  expect(Object.keys((await wrong.json())['invalid-params'])).toEqual(['forceTranscription'])
})
