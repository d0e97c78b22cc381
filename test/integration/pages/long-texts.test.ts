// Pages stay below 100 kB with the longest texts that the API accepts: lists show their beginning, and all of it where it is asked for.

import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { login } from '../../../scripts/demo/client.ts'
import { clock } from '../../../src/http/pages/bodies/text.ts'
import { type Browser, linksIn, makeBrowser, partIn } from '../../support/browser.ts'
import { insert, makeVideo } from '../../support/builders.ts'
import { startMailNode } from '../registrations/node.ts'
import { addUser, loggedIn, PASSWORD } from './users.ts'

const ROWS = 20

let pages: Awaited<ReturnType<typeof startPages>>

async function startPages() {
  const at = await startMailNode({ signup: { requires_approval: true }, config: { rates_limit: { signup: { max: 100 } } } })
  await addUser(at, 'reader', 2)
  const { base, username, password } = at.node
  const [asRoot, asReader, reader] = await Promise.all([
    login(base, username, password),
    login(base, 'reader', PASSWORD),
    loggedIn(at, 'reader'),
  ])
  const root = makeBrowser(base)
  await root.login(username, password)
  const { videoChannels } = await asRoot.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const columns = { duration: 500 }
  const video = await makeVideo(at, { channelId: videoChannels[0]?.id ?? 0, columns, webVideo: { resolution: 240 } })
  return { at, root, reader, asRoot, asReader, video }
}

beforeAll(async () => {
  pages = await startPages()
})
afterAll(() => pages?.at.stop())

/** A text of many bytes in HTML, of which `name` is the beginning. */
const longText = (name: string, length: number): string => `${name} ${'"日 '.repeat(length)}`.slice(0, length - 1).concat('.')
const escaped = (text: string): string => text.replaceAll('"', '&quot;')

async function bounded(browser: Browser, path: string): Promise<string> {
  const { html, status } = await browser.open(path)
  expect({ path, status, isShort: Buffer.byteLength(html) < 100_000 }).toEqual({ path, status: 200, isShort: true })
  return html
}

it('lists of watched words show their number and the first ones', async () => {
  const { root, asRoot } = pages
  const words = Array.from({ length: 500 }, (_, n) => `${n}-${'w'.repeat(90)}`)
  for (let n = 0; n < 4; n++) await asRoot.send('POST', '/api/v1/watched-words/server/lists', { listName: `List ${n}`, words })
  const { data } = await asRoot.get<{ data: { id: number }[] }>('/api/v1/vireo/watched-words/server/lists?count=1')
  expect(data).toEqual([expect.objectContaining({ listName: 'List 3', count: 500, beginning: words.join(', ').slice(0, 301) })])
  const edited = await bounded(root, `/admin/watched-words/${data[0]?.id}`)
  expect(partIn(edited, 'list').fields).toMatchObject({ listName: 'List 3', words: words.slice(0, 50).join('\n') })
  const html = await bounded(root, '/admin/watched-words')
  expect(html.match(/500\P{L}*words · <bdi>0-w+, 1-w+, 2-w+/gu)).toHaveLength(4)
  expect(html).not.toContain('4-w')
})

it('a conversation about a report shows the beginning of each message, and one whole', async () => {
  const { root, reader, asRoot, asReader, video } = pages
  const report = { video: { id: video.id }, reason: longText('Because', 3000) }
  const { abuse } = await asReader.send<{ abuse: { id: number } }>('POST', '/api/v1/abuses', report)
  await asRoot.send('PUT', `/api/v1/abuses/${abuse.id}`, { moderationComment: longText('Note', 3000) })
  const texts = Array.from({ length: ROWS }, (_, n) => longText(`Message ${n}`, 3000))
  for (const message of texts) await asReader.send('POST', `/api/v1/abuses/${abuse.id}/messages`, { message })
  for (const [browser, path] of [
    [root, `/admin/abuses/${abuse.id}`],
    [reader, `/my-account/abuses/${abuse.id}`],
  ] as const) {
    const html = await bounded(browser, `${path}?done=message`)
    const links = linksIn(html, 'Read all of it')
    expect(links).toHaveLength(ROWS)
    expect(links[1]).not.toContain('done')
    expect(texts.filter((text) => html.includes(escaped(text)))).toEqual([])
    expect(links[1]).toMatch(/#message-whole$/)
    const whole = await bounded(browser, links[1] ?? '')
    expect(whole.split('<bdi id="message-whole">')).toHaveLength(2)
    expect(texts.filter((text) => whole.includes(escaped(text)))).toHaveLength(1)
    expect(linksIn(whole, 'Read all of it')).toHaveLength(ROWS - 1)
  }
})

it('registrations show the beginning of reasons and answers, and those of one whole', async () => {
  const { at, root, asRoot } = pages
  const [registrationReason, moderationResponse] = [longText('Please', 3000), longText('Well', 3000)]
  for (let n = 0; n < ROWS; n++) {
    const asked = { username: `asking${n}`, email: `asking${n}@example.com`, password: PASSWORD, registrationReason }
    expect((await at.ask('POST', '/users/registrations/request', asked)).status).toBe(200)
  }
  const { data } = await asRoot.get<{ data: { id: number }[] }>('/api/v1/users/registrations?count=100')
  const answer = { moderationResponse, preventEmailDelivery: true }
  for (const { id } of data) await asRoot.send('POST', `/api/v1/users/registrations/${id}/reject`, answer)
  const html = await bounded(root, '/admin/registrations')
  const links = linksIn(html, 'Read all of it')
  expect(links).toHaveLength(2 * ROWS)
  expect(html).not.toContain(escaped(registrationReason))
  const whole = await bounded(root, links[0] ?? '')
  expect(whole.split(escaped(registrationReason))).toHaveLength(2)
  expect(whole.split(escaped(moderationResponse))).toHaveLength(2)
  for (const id of ['registrationReason-whole', 'moderationResponse-whole']) expect(whole.split(`id="${id}"`)).toHaveLength(2)
})

it('the page of a video with 60 ordinary chapters shows all, in the list and on the bar', async () => {
  const { root, asRoot, video } = pages
  const chapters = Array.from({ length: 60 }, (_, n) => ({ timecode: n, title: `Chapter number ${n + 1}` }))
  await asRoot.send('PUT', `/api/v1/videos/${video.uuid}/chapters`, { chapters })
  const html = await bounded(root, `/w/${video.uuid}`)
  expect(html.match(/data-seek="/g)).toHaveLength(60)
  const [, bar = '[]'] = /data-chapters="([^"]*)"/.exec(html) ?? []
  expect(JSON.parse(bar.replaceAll('&quot;', '"'))).toEqual(chapters.map(({ timecode, title }) => [timecode, title]))
})

it('the page of a video with 500 chapters, long comments and a long description shows the first ones', async () => {
  const { root, asRoot, asReader, video } = pages
  const texts = { description: longText('About', 10_000), support: longText('Support', 1000) }
  await asRoot.send('PUT', `/api/v1/videos/${video.uuid}`, texts)
  const threads = `/api/v1/videos/${video.uuid}/comment-threads`
  for (let n = 0; n < ROWS; n++) await asReader.send('POST', threads, { text: longText(`Comment ${n}`, 10_000) })
  const chapters = Array.from({ length: 500 }, (_, n) => ({ timecode: n, title: longText(`Part ${n}`, 100) }))
  await asRoot.send('PUT', `/api/v1/videos/${video.uuid}/chapters`, { chapters })
  const html = await bounded(root, `/w/${video.uuid}`)
  const shown = html.match(/data-seek="/g)?.length ?? 0
  expect(shown).toBeGreaterThan(10)
  expect(html).toContain(`And ${500 - shown} more.`)
  expect(html).toContain('Comment 19')
  const [, bar = '[]'] = /data-chapters="([^"]*)"/.exec(html) ?? []
  const names: [number, string][] = JSON.parse(bar.replaceAll('&quot;', '"'))
  expect(names.map(([timecode]) => timecode)).toEqual(chapters.map(({ timecode }) => timecode))
  expect(names[499]?.[1]).toMatch(/^P/)
  // The names of the checkboxes differ, for all comments are of one author.
  const mine = await bounded(root, '/my-library/comments')
  const named = [...mine.matchAll(/name="id" value="[^"]*" aria-labelledby="([^"]*)"/g)].map(([, ids = '']) =>
    ids.split(' ').map((id) => new RegExp(`id="${id}"[^>]*>(.*?)</(?:td|span)>`, 's').exec(mine)?.[1]),
  )
  expect(named[0]).toEqual(['Select', expect.stringContaining('reader@'), expect.stringContaining('Comment 19')])
  expect(new Set(named.map(String)).size).toBe(ROWS)
  const { data } = await asReader.get<{ data: { id: number }[] }>(threads)
  expect(await bounded(root, `/w/${video.uuid}?threadId=${data[0]?.id}`)).toContain('One conversation')
})

it('500 long chapters are edited on pages of 50, of which each keeps what others change meanwhile', async () => {
  const { root, asRoot, video } = pages
  // The first one of another client has line breaks.
  const titles = Array.from({ length: 500 }, (_, n) => (n === 0 ? 'A\n title\u2028in lines' : '"'.repeat(90) + n))
  const chapters = titles.map((title, n) => ({ timecode: n, title }))
  const path = `/api/v1/videos/${video.uuid}/chapters`
  const stored = async () => (await asRoot.get<{ chapters: typeof chapters }>(path)).chapters
  await asRoot.send('PUT', path, { chapters })
  await bounded(root, `/my-library/videos/${video.uuid}`)
  const here = `/my-library/videos/${video.uuid}/chapters`
  const open = async (page: number) => partIn(await bounded(root, `${here}?page=${page}`), 'chapters')
  expect(linksIn(await bounded(root, here), 'Next page')).toEqual([`${here}?page=2`])
  const [first, second, again, beyond] = [await open(1), await open(2), await open(2), await open(99)]
  const lines = (second.fields.chapters ?? '').split('\n')
  expect(first.fields.chapters).toMatch(/^0:00 A {2}title in lines\n0:01 /)
  expect(lines).toEqual(titles.slice(50, 100).map((title, n) => `${clock(50 + n)} ${title}`))
  expect(beyond.fields.chapters).toMatch(/^7:30 "+450\n/)
  // The first page loses its chapters but the first and the last one.
  const rest = first.fields.chapters?.split('\n').filter((_line, n) => n === 0 || n === 49)
  expect((await root.send(first, { chapters: rest?.join('\n') ?? '' })).status).toBe(200)
  const kept = [...chapters.slice(0, 1), ...chapters.slice(49)]
  expect(await stored()).toEqual(kept)
  // Two tabs change the second page as it was before.
  const saved = await root.send(second, { chapters: lines.slice(3).join('\n') })
  expect(saved.path).toBe(`${here}?page=2&done=chapters`)
  expect((await root.send(again, { chapters: lines.toSpliced(10, 1, '1:00  Changed  twice').join('\n') })).status).toBe(200)
  const both = kept.filter(({ timecode }) => timecode < 50 || timecode > 52)
  const changed = both.map((chapter) => (chapter.timecode === 60 ? { timecode: 60, title: 'Changed  twice' } : chapter))
  expect(await stored()).toEqual(changed)
  expect((await root.send(beyond, { chapters: `${beyond.fields.chapters}\n9:00 End` })).status).toBe(200)
  const all = [...changed, { timecode: 540, title: 'End' }]
  expect(await stored()).toEqual(all)
  // A line that was not touched takes no other title away.
  const [one, two] = [await open(2), await open(2)]
  const shown = (one.fields.chapters ?? '').split('\n')
  const [third = '', fourth = ''] = [all[52], all[53]].map((chapter) => clock(chapter?.timecode ?? 0))
  expect((await root.send(one, { chapters: shown.toSpliced(2, 1, `${third} Third`).join('\n') })).status).toBe(200)
  expect((await root.send(two, { chapters: shown.toSpliced(3, 1, `${fourth} Fourth`).join('\n') })).status).toBe(200)
  const named = all.map((chapter, n) => ({ ...chapter, title: { 52: 'Third', 53: 'Fourth' }[n] ?? chapter.title }))
  expect(await stored()).toEqual(named)
})

it('a chapter that cannot be saved is named by its line, in the language of the reader', async () => {
  const { at, asRoot, video } = pages
  const chapters = Array.from({ length: 500 }, (_, n) => ({ timecode: n, title: `Part ${n}` }))
  await asRoot.send('PUT', `/api/v1/videos/${video.uuid}/chapters`, { chapters })
  const browser = makeBrowser(at.node.base, { 'accept-language': 'de' })
  await browser.login(at.node.username, at.node.password)
  const form = partIn((await browser.open(`/my-library/videos/${video.uuid}/chapters`)).html, 'chapters')
  const saying = async (added: string) => {
    const { html, status } = await browser.send(form, { chapters: `${form.fields.chapters}\n\n${added}` })
    return [status, /id="chapters-chapters-note">([^<]*)</.exec(html)?.[1]]
  }
  expect(await saying('nonsense')).toEqual([400, 'Zeile 52: Nötig sind eine Zeit wie 1:30 und ein Titel mit höchstens 100 Zeichen.'])
  expect(await saying('0:07 Twice')).toEqual([400, 'Zeile 52: Bei 0:07 ist noch ein Kapitel, „Part 7“.'])
  expect(await saying('7:30 Other')).toEqual([400, 'Zeile 52: Bei 7:30 ist noch ein Kapitel, „Part 450“.'])
  expect(await saying('9:00 Next')).toEqual([400, 'Ein Video hat höchstens 500 Kapitel.'])
})

it('a list of 500 watched words is edited on pages of 50, of which each keeps the words of the others', async () => {
  const { root, asRoot } = pages
  const lists = '/api/v1/watched-words/server/lists'
  const { data } = await asRoot.get<{ data: { id: number }[] }>(lists)
  for (const { id } of data) await asRoot.send('DELETE', `${lists}/${id}`)
  const words = Array.from({ length: 500 }, (_, n) => `${n}-${'წ'.repeat(96)}`)
  words[0] = ' two\nlines '
  words.splice(120, 2, 'two words', 'two  words')
  words[320] = 'two\u2028words'
  const { watchedWordsList: made } = await asRoot.send<{ watchedWordsList: { id: number } }>('POST', lists, { listName: 'Long', words })
  const here = `/admin/watched-words/${made.id}`
  const open = async (page: number) => partIn(await bounded(root, `${here}?page=${page}`), 'list')
  const stored = () => asRoot.get<{ words: string[] }>(`/api/v1/vireo/watched-words/server/lists/${made.id}`)
  for (const page of [3, 7]) expect((await root.send(await open(page))).status).toBe(200)
  expect((await stored()).words.toSorted()).toEqual(words.toSorted())
  await asRoot.send('PUT', `${lists}/${made.id}`, { listName: 'Long', words })
  const [first, second] = [await open(1), await open(2)]
  expect(second.fields.words?.split('\n')).toEqual(words.slice(50, 100))
  expect((await root.send(first, { listName: 'Shorter', words: `two lines\n${words[9]}` })).status).toBe(200)
  const left = (second.fields.words ?? '').split('\n').slice(0, 49).join('\n')
  expect((await root.send(second, { listName: 'Shorter', words: `${left}\nnew` })).status).toBe(200)
  const expected = [words[0], words[9], ...words.slice(50, 99), 'new', ...words.slice(100)]
  expect(await stored()).toMatchObject({ listName: 'Shorter', words: expected })
  const last = await open(99)
  expect((await root.send(last, { words: '' })).status).toBe(200)
  expect(await stored()).toMatchObject({ words: expected.slice(0, 450) })
})

it('columns of any list show the beginning of a long text', async () => {
  const { at, root } = pages
  const failed = { type: 'email', queue: 'mail', state: 'failed', data: {}, error: longText('It broke', 100_000) }
  for (let n = 0; n < ROWS; n++) await insert(at, 'job', failed)
  for (const path of ['/admin/jobs', '/admin/overview']) expect((await bounded(root, path)).match(/It broke/g)).toHaveLength(ROWS)
})
