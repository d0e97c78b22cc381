// The response of GET /config/custom can be sent back unchanged in every state of the server. Single keys can be changed in it, but not
// those that the environment sets.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Client, login } from '../../../scripts/demo/client.ts'
import type { Values } from '../../../src/config/layers.ts'
import { startTestNode, type TestNode } from '../../support/node.ts'

const CUSTOM = '/api/v1/config/custom'
type Custom = Record<string, Record<string, unknown>>

const states: [string, Values][] = [
  ['fresh', {}],
  [
    'with values beyond the bounds of the API',
    {
      instance: { name: 'N'.repeat(3000), server_country: 'S'.repeat(3000), description: 'D'.repeat(150_000) },
      admin: { email: 'root@localhost' },
      theme: { default: 'theme-of-a-plugin' },
      transcoding: { threads: 5000, profile: 'fast', fps: { max: 5000 } },
      cache: { previews: { size: 5_000_000_000 } },
    },
  ],
  [
    'that contradicts itself',
    {
      signup: { enabled: true, requires_email_verification: true },
      import: { video_channel_synchronization: { enabled: true } },
      video_studio: { enabled: true },
      transcoding: { enabled: false },
    },
  ],
  [
    'with what is not built yet',
    {
      live: { enabled: true, transcoding: { remote_runners: { enabled: true } } },
      transcoding: { remote_runners: { enabled: true } },
      video_studio: { remote_runners: { enabled: true } },
      video_transcription: { enabled: true, remote_runners: { enabled: true } },
    },
  ],
  // Set by an environment variable, like VIREO__INSTANCE__NAME.
  ['with a name from the environment', { instance__name: 'Pinned', signup__limit: 7 }],
]

describe.each(states)('a server %s', (about, config) => {
  let node: TestNode
  let admin: Client
  const read = () => admin.get<Custom>(CUSTOM)
  const put = async (body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await admin.raw(CUSTOM, { method: 'PUT', headers, body: JSON.stringify(body) })
    return { status: answer.status, body: JSON.parse(await answer.text()) as Custom }
  }

  beforeAll(async () => {
    node = await startTestNode({ config })
    admin = await login(node.base, node.username, node.password)
  })
  afterAll(() => node?.stop())

  it('accepts its own response, whole, by section, and with fields of other versions', async () => {
    const before = await read()
    expect(await put(before)).toEqual({ status: 200, body: before })
    for (const name of Object.keys(before)) {
      expect([name, (await put({ [name]: before[name] })).status]).toEqual([name, 200])
      const { [name]: _left, ...others } = before
      expect([name, (await put(others)).status]).toEqual([name, 200])
    }
    expect((await put({ ...before, later: { enabled: true }, instance: { ...before.instance, later: 1 } })).status).toBe(200)
    expect(await read()).toEqual(before)
    expect((await put({})).status).toBe(400)
    expect((await put({ later: {} })).status).toBe(400)
  })

  it('accepts a changed key in the response, and returns it afterwards', async () => {
    const before = await read()
    const changed = {
      ...before,
      instance: { ...before.instance, terms: 'New terms' },
      videoChannels: { maxPerUser: 3 },
    }
    expect(await put(changed)).toEqual({ status: 200, body: changed })
    expect(await put(await read())).toEqual({ status: 200, body: changed })
    expect(await put({ instance: { terms: null }, videoChannels: { maxPerUser: null } })).toMatchObject({ status: 400 })
    await admin.send('DELETE', CUSTOM)
    expect(await read()).toEqual(before)
  })

  it('has values for the forms of web clients, and accepts any transcoding profile', async () => {
    const { services, transcoding } = await read()
    expect(services).toEqual({ twitter: { username: '@' } })
    for (const username of ['', '@', '@vireo']) {
      const { status, body } = await put({ services: { twitter: { username } } })
      expect([status, body.services]).toEqual([200, { twitter: { username: username || '@' } }])
    }
    const { body } = await put({ transcoding: { ...transcoding, profile: 'high quality' } })
    expect(body.transcoding).toMatchObject({ profile: 'high quality' })
    await admin.send('DELETE', CUSTOM)
  })

  it('shows nothing as enabled that does not exist', async () => {
    const off = { enabled: false }
    // Only remote runners transcribe.
    const videoTranscription = { enabled: true, remoteRunners: off }
    await put({ videoTranscription })
    const all = { videoTranscription: { enabled: false, remoteRunners: off } }
    expect(await read()).toMatchObject(all)
    expect(await admin.get('/api/v1/config')).toMatchObject(all)
    await admin.send('DELETE', CUSTOM)
  })

  it('refuses changes of keys set by the environment with 405', async () => {
    const name = (await read()).instance?.name
    const renamed = await put({ instance: { name: 'Other' }, signup: { limit: 8 } })
    if (!about.includes('environment')) {
      expect([renamed.status, (await read()).instance?.name]).toEqual([200, 'Other'])
    } else {
      expect(renamed).toMatchObject({
        status: 405,
        body: { detail: expect.stringContaining('instance.name, signup.limit') },
      })
      expect((await put({ instance: { name }, signup: { limit: 7 } })).status).toBe(200)
      expect(await read()).toMatchObject({ instance: { name: 'Pinned' }, signup: { limit: 7 } })
    }
    await admin.send('DELETE', CUSTOM)
  })
})
