// The languages of the pages: selection of the language, and complete translations.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Parser } from 'htmlparser2'
import { languageLabels } from '../../../src/actors/video/index.ts'
import { screens } from '../../../src/http/pages/screens/screens.ts'
import { languageOfTag, messagesIn } from '../../../src/platform/languages.ts'
import { type Browser, formIn, makeBrowser, type Shown, SURE } from '../../support/browser.ts'
import { media } from '../../support/media.ts'
import { type MailNode, startMailNode } from '../registrations/node.ts'

let at: MailNode
let root: Browser
let video: string

beforeAll(async () => {
  at = await startMailNode({
    config: {
      transcoding: { enabled: false },
      import: { videos: { http: { enabled: true }, torrent: { enabled: true } } },
      signup: { enabled: true, requires_approval: true },
      rates_limit: { login: { max: 1000 } },
    },
  })
  root = makeBrowser(at.node.base)
  await root.login(at.node.username, at.node.password)
  const upload = await root.open('/videos/upload')
  const form = /<form[^>]*enctype="multipart.*?<\/form>/s.exec(upload.html)?.[0] ?? ''
  const channelId = /<option value="(\d+)"/.exec(form)?.[1] ?? ''
  const sent = formIn(form, '/videos/upload')
  const file = { field: 'videofile', name: 'small.mp4', type: 'video/mp4', bytes: await readFile(await media('small.mp4')) }
  const fields = { ...sent.fields, name: '1234 5678', channelId, privacy: '1' }
  const done = await root.sendFile({ ...sent, fields }, file)
  video = done.path.split('/').at(-1) ?? ''
  expect(done.status).toBe(200)
})
afterAll(() => at?.stop())

const german = { 'accept-language': 'de' }
const languageOf = ({ html }: Shown): string | undefined => /<html lang="([^"]*)" dir="ltr"/.exec(html)?.[1]

/** The language buttons in the footer; `from`: the current page. */
async function choose(browser: Browser, language: string, from?: string, more: Record<string, string> = {}): Promise<Shown> {
  const headers = { origin: at.node.base, 'sec-fetch-site': 'same-origin', ...(from === undefined ? {} : { referer: from }), ...more }
  return await browser.send({ action: '/language', method: 'post', fields: { language } }, {}, headers)
}

describe('the language of a page', () => {
  it.each([
    [undefined, 'en'],
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['fr-CH;q=0.4,de-CH;q=0.6', 'de'],
    ['pt,fr;q=0.5', 'fr'],
    ['pt', 'en'],
    ['*', 'en'],
    [',;q=x', 'en'],
  ])('follows Accept-Language: %j gives %s', async (requested, language) => {
    const page = await makeBrowser(at.node.base).open('/about', requested === undefined ? {} : { 'accept-language': requested })
    expect(page.status).toBe(200)
    expect(languageOf(page)).toBe(language)
    expect(page.headers.get('content-language')).toBe(language)
    expect(page.headers.get('vary')).toMatch(/Accept-Language/)
  })

  it('is found at once in an endless header', async () => {
    const page = await makeBrowser(at.node.base).open('/about', { 'accept-language': `${'x,'.repeat(3000)}fr` })
    expect(languageOf(page)).toBe('en')
  })

  it('is chosen by a button, which returns to the page', async () => {
    const browser = makeBrowser(at.node.base, german)
    expect((await browser.open('/videos/browse?page=2')).html).toContain('value="fr" lang="fr">Français<')
    const page = await choose(browser, 'fr', `${at.node.base}/videos/browse?page=2`)
    expect({ path: page.path, language: languageOf(page) }).toEqual({ path: '/videos/browse?page=2', language: 'fr' })
    expect(languageOf(await browser.open('/login'))).toBe('fr')
    expect(languageOf(await choose(browser, 'en'))).toBe('en')
    // Frames of other sites get no cookie.
    expect(languageOf(await browser.open(`/videos/embed/${video}`))).toBe('de')
  })

  it('is stored with the user, also for the next browser', async () => {
    const name = 'linda'
    const body = { username: name, password: 'a good password', email: 'linda@example.com', role: 2, videoQuota: -1, videoQuotaDaily: -1 }
    expect((await at.ask('POST', '/users', body, at.root)).status).toBe(200)
    const first = makeBrowser(at.node.base)
    await choose(first, 'fr')
    expect(languageOf(await first.login(name, 'a good password'))).toBe('fr')
    await choose(first, 'de')
    const second = makeBrowser(at.node.base, { 'accept-language': 'fr' })
    expect(languageOf(await second.login(name, 'a good password'))).toBe('de')
    expect(languageOf(await second.open('/my-account/settings'))).toBe('de')
  })

  it('cannot be chosen by other sites, and other values are refused', async () => {
    const browser = makeBrowser(at.node.base)
    expect((await choose(browser, 'fr', undefined, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await choose(browser, 'xx')).status).toBe(400)
    expect((await choose(browser, '')).status).toBe(400)
    expect(browser.cookies.size).toBe(0)
    expect((await choose(browser, 'fr', 'https://evil.example/login')).path).toBe('/')
    browser.cookies.set('vireo-language', '%00<script>')
    expect(languageOf(await browser.open('/'))).toBe('en')
  })

  it('is part of the key of shared and browser caches', async () => {
    for (const path of ['/', `/w/${video}`, `/videos/embed/${video}`, '/videos/browse']) {
      const tags = new Map<string, string>()
      for (const language of ['en', 'de', 'fr', 'de', 'en', 'fr']) {
        const page = await makeBrowser(at.node.base).open(path, { 'accept-language': language })
        expect([path, page.status, languageOf(page)]).toEqual([path, 200, language])
        tags.set(language, page.headers.get('etag') ?? '')
      }
      const known = { 'if-none-match': tags.get('de') ?? '' }
      expect((await makeBrowser(at.node.base).open(path, { ...known, ...german })).status).toBe(304)
      expect((await makeBrowser(at.node.base).open(path, { ...known, 'accept-language': 'fr' })).status).toBe(200)
    }
  })
})

describe('a page in another language', () => {
  const names = Object.keys(languageLabels).map((code) => languageOfTag('de')?.nameOf(code))
  const words = new Set([...Object.values(messagesIn('de')), ...names])
  /** Words that are the same in both languages. */
  const isSame = (text: string): boolean => words.has(text) || !/\p{L}{2}/u.test(text)

  async function leftOver(browser: Browser, path: string): Promise<string[]> {
    const [english, other] = [await browser.open(path), await browser.open(path, german)]
    expect([path, other.status]).toEqual([path, english.status])
    const before = new Set(textsOf(english.html))
    return textsOf(other.html).filter((text) => before.has(text) && !isSame(text))
  }

  it('contains no English words for visitors', async () => {
    const paths = [
      ...['/', '/about', '/about/contact', '/login', '/signup', '/login/ask-reset-password', '/search', '/search?search=zzzz', '/c/nobody'],
      ...['/videos/browse?sort=-trending', '/remote-interaction', '/reset-password', '/verify-account/email', '/nothing'],
      ...[`/w/${video}`, `/videos/embed/${video}`, '/c/root_channel/videos', '/c/root_channel/about', '/a/root/video-channels'],
    ]
    const found = await Promise.all(paths.map((path) => leftOver(makeBrowser(at.node.base), path)))
    expect([...new Set(found.flat())].filter((text) => !OF_OTHERS.test(text))).toEqual([])
  })

  it('contains no English words for administrators', async () => {
    // Logs are not translated.
    const plain = screens.map(({ path }) => path).filter((path) => !path.includes(':') && path !== '/admin/logs')
    const ofVideo = ['', '/studio', '/source', '/statistics'].map((room) => `/my-library/videos/${video}${room}`)
    const own = [
      `/w/${video}`,
      `/w/${video}/take-part`,
      '/my-account/settings',
      '/my-account/notifications',
      '/my-account/import-export',
      `/a/${at.node.username}/take-part`,
    ]
    const found: string[] = []
    for (const path of [...plain, ...ofVideo, ...own]) found.push(...(await leftOver(root, path)))
    expect([...new Set(found)].filter((text) => !OF_OTHERS.test(text))).toEqual([])
  })

  it('shows errors of a form in its language', async () => {
    const { html } = await root.open('/admin/users', german)
    const form = /<form[^>]*action="\/admin\/users"(?:(?!<\/form>).)*name="part" value="new".*?<\/form>/s.exec(html)?.[0] ?? ''
    const page = await root.send(
      formIn(form, '/admin/users'),
      { username: 'a b', email: 'x', password: 'abc', role: '2' },
      {
        ...german,
        origin: at.node.base,
        'sec-fetch-site': 'same-origin',
      },
    )
    expect(page.status).toBe(400)
    expect(page.html).toContain('Bitte die markierten Felder prüfen.')
    expect(page.html).toMatch(/id="new-username-note">Ein Name/)
  })

  it('shows errors of a value in its language, and the API in English', async () => {
    const { html } = await root.open('/admin/blocklist', german)
    const form =
      /<form[^>]*action="\/admin\/blocklist"(?:(?!<\/form>).)*name="part" value="import-servers".*?<\/form>/s.exec(html)?.[0] ?? ''
    const list = 'not a host\nfine.example\nno host, either'
    const headers = { ...german, origin: at.node.base, 'sec-fetch-site': 'same-origin' }
    const page = await root.send(formIn(form, '/admin/blocklist'), { list, ...SURE }, headers)
    expect(page.html).toContain('Zeile 1: „not a host“ ist kein Servername. Zeile 3: „no host, either“ ist kein Servername.')
    const refused = await at.ask('POST', '/vireo/server-blocklist', { list }, at.root)
    const msg = 'Line 1: "not a host" is not the name of a server.\nLine 3: "no host, either" is not the name of a server.'
    expect(refused.body).toMatchObject({ 'invalid-params': { list: { msg } } })
  })

  it('explains the settings, and finds them by translated words', async () => {
    const page = await root.open('/admin/config?search=untertitel+aus+gesprochenem', german)
    const form = /name="part" value="config".*?<\/form>/s.exec(page.html)?.[0] ?? ''
    expect([...form.matchAll(/name="([^"]*\.[^"]*)"/g)].map(([, name]) => name)).toEqual(['videoTranscription.enabled'])
    expect(form).toContain('Ob Untertitel aus Gesprochenem erzeugt werden.')
    const whole = await root.open('/admin/config', { 'accept-language': 'fr' })
    expect(whole.html).toContain('Si 1080p est créé, quand la source n’est pas plus petite.')
    expect(Buffer.byteLength(whole.html)).toBeLessThan(100_000)
  })
})

/** Names, examples, and technical terms without a translation. */
const OF_OTHERS =
  /^(?:Vireo|Welcome!|No terms for now\.|Watch later|.* - Vireo|MP4 · .* fps|root|linda|Main root channel|root_channel|English|Deutsch|Français|RSS|MP4|1234 5678|\p{Lu}\p{L}+ \d+|Default .*channel|A video server of the federated web\.)$|@|\.example|^https?:/u

function textsOf(html: string): string[] {
  const texts: string[] = []
  let isHidden = false
  const parser = new Parser({
    onopentag(name, attributes) {
      isHidden = name === 'script' || name === 'style' || name === 'textarea'
      for (const key of ['aria-label', 'placeholder', 'data-confirm', 'title', 'alt']) if (attributes[key]) texts.push(attributes[key])
    },
    ontext(text) {
      if (!isHidden) texts.push(text)
    },
    onclosetag() {
      isHidden = false
    },
  })
  parser.end(html)
  return texts.map((text) => text.trim()).filter((text) => text !== '')
}

describe('the theme of a page', () => {
  const schemeOf = ({ html }: Shown): string | undefined => /<meta name="color-scheme" content="([^"]*)">/.exec(html)?.[1]
  const coloursOf = ({ html }: Shown): string[] =>
    [...html.matchAll(/<meta name="theme-color"[^>]* content="(#\w+)">/g)].map(([, colour = '']) => colour)
  const openButton = ({ html }: Shown): string | undefined => /name="theme" value="([^"]*)" aria-current="true"/.exec(html)?.[1]
  const [light, dark] = ['#fbfaf7', '#141416']

  async function chooseTheme(browser: Browser, theme: string, more: Record<string, string> = {}): Promise<Shown> {
    const headers = { origin: at.node.base, 'sec-fetch-site': 'same-origin', referer: `${at.node.base}/about`, ...more }
    return await browser.send({ action: '/theme', method: 'post', fields: { theme } }, {}, headers)
  }

  it('is that of the device until another one is chosen, by visitors and users', async () => {
    for (const browser of [makeBrowser(at.node.base), root]) {
      let page = await browser.open('/about')
      expect([schemeOf(page), openButton(page), coloursOf(page)]).toEqual(['light dark', 'light dark', [light, dark]])
      page = await chooseTheme(browser, 'dark')
      expect([page.path, schemeOf(page), openButton(page), coloursOf(page)]).toEqual(['/about', 'dark', 'dark', [dark, dark]])
      expect(schemeOf(await browser.open('/login'))).toBe('dark')
      page = await chooseTheme(browser, 'light')
      expect([schemeOf(page), openButton(page), coloursOf(page)]).toEqual(['light', 'light', [light, light]])
      // Frames of other sites get no cookie.
      expect(schemeOf(await browser.open(`/videos/embed/${video}`))).toBe('light dark')
      page = await chooseTheme(browser, 'light dark')
      expect([schemeOf(page), openButton(page), coloursOf(page)]).toEqual(['light dark', 'light dark', [light, dark]])
    }
  })

  it('cannot be chosen by other sites, and other values are refused', async () => {
    const browser = makeBrowser(at.node.base)
    expect((await chooseTheme(browser, 'dark', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    for (const theme of ['', 'system', 'toString']) expect((await chooseTheme(browser, theme)).status).toBe(400)
    expect(browser.cookies.size).toBe(0)
    browser.cookies.set('vireo-theme', 'dark%22><script>')
    expect(schemeOf(await browser.open('/'))).toBe('light dark')
  })

  it('is part of the key of shared and browser caches', async () => {
    for (const path of ['/', `/w/${video}`, '/videos/browse']) {
      const tags = new Map<string, string>()
      for (const theme of ['light dark', 'dark', 'light', 'dark', 'light dark', 'light']) {
        const browser = makeBrowser(at.node.base)
        browser.cookies.set('vireo-theme', encodeURIComponent(theme))
        const page = await browser.open(path)
        expect([schemeOf(page), page.headers.get('vary')]).toEqual([theme, expect.stringContaining('Cookie')])
        const tag = page.headers.get('etag') ?? ''
        expect(tags.get(theme) ?? tag).toBe(tag)
        tags.set(theme, tag)
      }
      expect(new Set(tags.values()).size).toBe(3)
    }
  })
})
