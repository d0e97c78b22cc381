// Hostile text in every field of other servers stays text on local pages.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { makeBrowser, partIn } from '../support/browser.ts'
import { type FakePeer, type JsonObject, type PeerActor, startFakePeer } from '../support/fake-peer.ts'
import { findInjected } from '../support/find-injected.ts'
import { hostileTexts } from '../support/hostile-texts.ts'
import { until } from '../support/until.ts'
import { type FederatedNode, startFederatedNode } from './support.ts'

let local: FederatedNode
let peer: FakePeer

beforeAll(async () => {
  // Nobody follows anybody here: visitors see fetched objects too.
  const search = { remote_uri: { users: true, anonymous: true } }
  ;[local, peer] = await Promise.all([startFederatedNode({ search }), startFakePeer()])
  const software = { name: NAME, version: NAME }
  const body = { version: '2.0', software, metadata: { nodeName: NAME, nodeDescription: NAME } }
  peer.serve('/nodeinfo/2.0.json', () => ({ type: 'application/json', body }))
})
afterAll(async () => {
  await Promise.all([peer?.close(), local?.stop()])
})

const NAME = '</title><script>alert(1)</script>"><img src=x onerror=alert(1)>'
/** In characters; longer values are not read at all. */
const LONGEST_LANGUAGE = 20

async function check(path: string, get = (address: string) => makeBrowser(local.base).open(address)): Promise<string> {
  const { status, html } = await get(path)
  expect({ path, status }).toEqual({ path, status: 200 })
  const { strange, inline } = findInjected(html, { own: local.base })
  expect({ path, strange, inline }).toEqual({ path, strange: [], inline: [] })
  return html
}

/** The actor with other texts, served at its id. */
function renamed(actor: PeerActor, words: JsonObject): PeerActor {
  const document = { ...actor.document, ...words }
  peer.serve(actor.url, document)
  return { ...actor, document }
}

const find = async (text: string): Promise<string | undefined> =>
  (await local.client.get<{ data: { uuid: string }[] }>(`/api/v1/search/videos?search=${encodeURIComponent(text)}`)).data[0]?.uuid

describe('pages about what another server sent', () => {
  it.each(hostileTexts.map((text, index) => [JSON.stringify(text), text, index] as const))(
    'have only words of %s',
    async (_name, text, index) => {
      const words = { name: text, summary: text, support: text }
      const account = renamed(await peer.account(`person_${index}`), words)
      const channel = renamed(await peer.channel(`channel_${index}`, account), words)
      const language = [...text].slice(0, LONGEST_LANGUAGE).join('').slice(0, LONGEST_LANGUAGE)
      const captions = `${peer.base}/captions/${index}.vtt`
      const video = peer.video({
        account,
        channel,
        more: {
          name: text,
          content: text,
          support: text,
          category: { identifier: '1', name: text },
          licence: { identifier: '1', name: text },
          language: { identifier: 'en', name: text },
          tag: [{ type: 'Hashtag', name: text.slice(0, 30) }],
          subtitleLanguage: ['en', language].map((identifier) => ({ identifier, name: text, url: captions })),
        },
      })
      const uuid = await find(video.id)
      expect(uuid).toBeDefined()
      const note = peer.note({ author: account.url, inReplyTo: video.id, content: text })
      await local.deliver(account, peer.activity(account, 'Create', note))
      const watch = await check(`/w/${uuid}`)
      expect(watch).toMatch(/<ol class="comments"><li id="comment-\d+">/)
      // Unknown languages are left out, and labels are local.
      expect(watch.match(/<track .*?>/g)).toEqual([expect.stringMatching(/ srclang="en" label="English">$/)])
      await check(`/videos/embed/${uuid}`)
      const [person, group] = [`person_${index}@${peer.host}`, `channel_${index}@${peer.host}`]
      for (const path of [`/a/${person}`, `/a/${person}/about`, `/c/${group}`, `/c/${group}/about`, `/c/${group}/videos`]) {
        await check(path)
      }
    },
  )

  it('contain only text, in searches', async () => {
    const browser = makeBrowser(local.base)
    await browser.login(local.node.username, local.node.password)
    for (const kind of ['videos', 'channels']) {
      const path = `/search?search=script&type=${kind}`
      expect(await check(path, (address) => browser.open(address))).toContain('&lt;script&gt;alert(1)')
    }
  })

  it('contain only text, about a follower', async () => {
    const server = renamed(peer.instance, { name: NAME, summary: NAME, preferredUsername: 'peertube' })
    await local.deliver(server, peer.activity(server, 'Follow', local.instance))
    const person = renamed(await peer.account('subscriber'), { name: NAME })
    const me = await local.client.get<{ videoChannels: { name: string }[] }>('/api/v1/users/me')
    const followed = `${local.base}/video-channels/${me.videoChannels[0]?.name}`
    await local.deliver(person, peer.activity(person, 'Follow', followed))
    const browser = makeBrowser(local.base)
    expect((await browser.login(local.node.username, local.node.password)).path).toBe('/admin/setup')
    const sent = await until(
      async () => {
        const html = await check('/my-account/notifications', (path) => browser.open(path))
        return html.includes('follows this server') && html.includes('subscribed to your channel') ? html : undefined
      },
      { what: 'both notifications' },
    )
    expect(sent).toContain('&lt;/title&gt;&lt;script&gt;')
    expect(partIn(sent, 'read-all').fields.token).toMatch(/\w/)
    await check('/about')
  })
})
