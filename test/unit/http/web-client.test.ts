// The administrator's web client: placeholders, language, and path traversal.

import { mkdir, mkdtemp, realpath, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { openClient } from '../../../src/http/client/built-client.ts'
import { isHashed } from '../../../src/http/client/files.routes.ts'
import { makeLocales } from '../../../src/http/client/locales.ts'
import { clientPolicy } from '../../../src/http/client/policy.ts'
import { parseTemplate, sourceOf } from '../../../src/http/client/template.ts'
import { fileIn } from '../../../src/platform/folder.ts'
import { forScript, html, styleTag } from '../../../src/platform/html.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { fakeClock } from '../../support/clock.ts'
import { startCpuTime } from '../../support/cpu-time.ts'

describe('a page of a built client', () => {
  it('has its placeholders replaced, or removed without a value', () => {
    const page = parseTemplate('<head><!-- title tag -->\n<!--meta tags--><!-- server config --></head>')
    expect(page.fill({ 'title tag': html`<title>${'<b>'}</title>`, 'server config': html`<i></i>` })).toBe(
      '<head><title>&lt;b&gt;</title>\n<i></i></head>',
    )
    expect(page.has('server config')).toBe(true)
    expect(page.has('description tag')).toBe(false)
  })

  it('has no placeholder outside of comments', () => {
    const text = '<script>"<!-- title tag -->"</script><a title="<!-- title tag -->"></a><textarea><!-- title tag --></textarea>'
    const page = parseTemplate(text)
    expect(page.has('title tag')).toBe(false)
    expect(page.fill({ 'title tag': html`<title></title>` })).toBe(text)
  })

  it("says whether it contains the platform's name itself", () => {
    expect(parseTemplate('<meta property="og:platform" content="PeerTube">').namesPlatform).toBe(true)
    expect(parseTemplate('<!-- <meta property="og:platform" content="PeerTube"> -->').namesPlatform).toBe(false)
  })

  it('keeps values that look like placeholders', () => {
    const page = parseTemplate('<!-- title tag --><!-- meta tags -->')
    expect(page.fill({ 'title tag': html`<!-- meta tags -->$&`, 'meta tags': html`<b>` })).toBe('<!-- meta tags -->$&<b>')
  })

  it('finds its own inline scripts', () => {
    const script = "\n  window.x = '&amp;' < 1\n"
    const page = parseTemplate(`<script>${script}</script><script src="a.js"></script><link onload="this.media='all'">`)
    expect(page.scripts).toEqual([sourceOf(script)])
    expect(page.handlers).toEqual([sourceOf("this.media='all'")])
  })
})

describe('a page with CRLF line ends', () => {
  it('has the scripts that browsers see', () => {
    expect(parseTemplate('<script>a()\r\nb()\rc()</script>').scripts).toEqual([sourceOf('a()\nb()\nc()')])
  })
})

describe('a value in a page', () => {
  it('cannot end a script, for any configuration', () => {
    const config = JSON.stringify({ name: '</script><!-- \u2028\u2029 & "quoted" \\ `' })
    const literal = forScript(JSON.stringify(config))
    expect(literal).not.toMatch(/[<>&\u2028\u2029]/)
    expect(JSON.parse(JSON.parse(literal))).toEqual(JSON.parse(config))
  })

  it('cannot end a style, and keeps its meaning', () => {
    const { text } = styleTag('a::before { content: "</style><script>" } <!-- a > b', 'x')
    expect(text.match(/<\/?\w+|<!/g)).toEqual(['<style', '<script', '</style'])
    expect(text).toContain('"\\3c /style><script>"')
  })
})

describe('the language of a client', () => {
  const locales = makeLocales(['de-DE', 'en-US', 'fr-FR', 'pt-BR', 'pt-PT', 'zh-Hans-CN'])
  const choose = (acceptLanguage?: string, chosen?: string) => locales.choose({ acceptLanguage, chosen })

  it.each([
    ['fr', 'fr-FR'],
    ['fr-CA,en;q=0.5', 'fr-FR'],
    ['xx, de;q=0.3, en;q=0.2', 'de-DE'],
    ['pt', 'pt-BR'],
    ['pt-PT', 'pt-PT'],
    ['zh-SG', 'zh-Hans-CN'],
    ['PT-br', 'pt-BR'],
    ['zh', 'zh-Hans-CN'],
    ['xx', 'en-US'],
    ['*', 'de-DE'],
    ['en;q=0', 'en-US'],
    ['', 'en-US'],
    [undefined, 'en-US'],
    [';;;,,,=\0', 'en-US'],
  ])('is derived from %p', (header, locale) => {
    const chosen = choose(header)
    // The result of a wildcard does not matter, if there is one.
    if (header === '*') expect(locales.names).toContain(chosen)
    else expect(chosen).toBe(locale)
  })

  it('is the chosen one, if it exists', () => {
    expect(choose('fr', 'de-DE')).toBe('de-DE')
    expect(choose('fr', 'de')).toBe('de-DE')
    for (const hostile of ['../../etc', 'de-DE/..', '__proto__', 'constructor', '', 'de\0']) {
      expect(choose('fr', hostile)).toBe('fr-FR')
    }
  })

  it('is found quickly in a huge header', () => {
    const bomb = Array.from({ length: 100_000 }, (_, index) => `x${index};q=0.${index}`).join(',')
    const spent = startCpuTime()
    const chosen = Array.from({ length: 20 }, () => choose(bomb))
    expect(spent()).toBeLessThan(1000)
    expect(new Set(chosen)).toEqual(new Set(['en-US']))
  })

  it('is another one where there is no English', () => {
    expect(makeLocales(['nl-NL']).choose({ chosen: undefined, acceptLanguage: 'fr' })).toBe('nl-NL')
  })
})

describe('the CSP of a client', () => {
  const options = { scripts: ["'sha256-a'"], handlers: [], evaluates: false, framed: false, reportUri: null }

  it('allows only its inline scripts, and files of this server', () => {
    const policy = clientPolicy(options)
    expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval' 'sha256-a';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe-hashes')
  })

  it('allows attributes by their hashes, and the script of the administrator if there is one', () => {
    const policy = clientPolicy({ ...options, handlers: ["'sha256-b'"], evaluates: true, framed: true })
    expect(policy).toContain("'unsafe-eval' 'sha256-a' 'unsafe-hashes' 'sha256-b';")
    expect(policy).toContain('frame-ancestors *')
  })

  it('reports where the configuration says, without injected directives', () => {
    expect(clientPolicy({ ...options, reportUri: 'https://x.example/a; script-src *' })).toContain(
      'report-uri https://x.example/a%3B%20script-src%20*',
    )
  })
})

it.each([
  ['en-US/main-5A7XQ2KD.js', true],
  ['assets/index.0f3c9a1b2c.css', true],
  ['en-US/chunk-ABCDEFGH.js.map', true],
  ['assets/images/icons/icon-144x144.png', false],
  ['assets/images/icons/icon-1024x1024.png', false],
  ['assets/images/default-playlist.jpg', false],
  ['assets/images/default-avatar-account.png', false],
  ['ngsw-worker.js', false],
])('whether %s has a content hash in its name: %p', (path, hashed) => {
  expect(isHashed(path)).toBe(hashed)
})

describe("the administrator's folder", () => {
  let outside: string
  let root: string

  beforeAll(async () => {
    outside = await realpath(await mkdtemp(join(tmpdir(), 'vireo-client-')))
    root = join(outside, 'dist')
    await mkdir(join(root, 'en-US/assets'), { recursive: true })
    await mkdir(join(outside, 'dist-secret'))
    await writeFile(join(outside, 'secret'), 'secret')
    await writeFile(join(outside, 'dist-secret/file'), 'secret')
    await writeFile(join(root, 'en-US/assets/a b%.js'), 'x')
    await writeFile(join(root, '.hidden'), 'x')
    await symlink(join(outside, 'secret'), join(root, 'link'))
    await symlink(outside, join(root, 'up'))
    await symlink('en-US/assets', join(root, 'assets'))
    await symlink('loop', join(root, 'loop'))
  })
  afterAll(() => rm(outside, { recursive: true, force: true }))

  it('serves its files, also through a symbolic link within it', async () => {
    expect(await fileIn(root, 'en-US/assets/a b%.js')).toMatchObject({ size: 1 })
    expect(await fileIn(root, 'assets/a b%.js')).toMatchObject({ path: join(root, 'en-US/assets/a b%.js') })
  })

  it.each([
    '../secret',
    'en-US/../../secret',
    '..\\secret',
    'link',
    'up/secret',
    'loop',
    '.hidden',
    './en-US/assets/a b%.js',
    '/etc/passwd',
    'en-US//assets',
    'en-US',
    '',
    'en-US/assets/a b%.js/',
    'secret\0',
    '../dist-secret/file',
    'x'.repeat(300),
    'x/'.repeat(400),
    'C:secret',
  ])('serves nothing for %p', async (path) => {
    expect(await fileIn(root, path)).toBeUndefined()
  })
})

describe('the folder of a client', () => {
  const page = (text: string) => `<html><!-- server config -->${text}</html>`
  const clock = fakeClock()
  let folder: string
  const open = () => openClient({ folder, clock, logger: silentLogger })
  const write = async (path: string, text: string) => await writeFile(join(folder, path), text)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vireo-client-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('is refused in one line while something is missing', async () => {
    await expect(openClient({ folder: join(folder, 'none'), clock, logger: silentLogger })).rejects.toThrow(
      /^vireo\.client\.dist: .* is no folder that can be read\.$/,
    )
    await expect(open()).rejects.toThrow(/^vireo\.client\.dist: .* <locale>\/index\.html is missing, such as en-US/)
    for (const locale of ['ar', 'de-DE', 'en-US', 'fr-FR']) {
      await mkdir(join(folder, locale))
      await write(`${locale}/index.html`, page(locale))
    }
    await expect(open()).rejects.toThrow(/^vireo\.client\.dist: .* standalone\/videos\/embed\.html .* it is not there\.$/)
    await mkdir(join(folder, 'standalone/videos'), { recursive: true })
    await write('standalone/videos/embed.html', '<html></html>')
    await expect(open()).rejects.toThrow(/embed\.html .* no comment `server config`\.$/)
    await write('standalone/videos/embed.html', page('embed'))
    await write('manifest.webmanifest', '[1]')
    await expect(open()).rejects.toThrow(/manifest\.webmanifest .* it is no object\.$/)
    await write('manifest.webmanifest', '{"display":"fullscreen"}')
    expect((await open()).locales.names).toEqual(['ar', 'de-DE', 'en-US', 'fr-FR'])
  })

  it('is read once, and again when a page has changed', async () => {
    const client = await open()
    const text = async () => (await client.page('en-US')).fill({})
    await write('en-US/index.html', page('new'))
    await utimes(join(folder, 'en-US/index.html'), 1, 1)
    expect(await text()).toContain('en-US')
    clock.pass(3_000)
    expect(await text()).toContain('new')

    // During an update the old page is served.
    await rename(join(folder, 'en-US/index.html'), join(folder, 'en-US/aside.html'))
    clock.pass(3_000)
    expect(await text()).toContain('new')
    await write('en-US/index.html', 'broken')
    clock.pass(3_000)
    expect(await text()).toContain('new')
    await write('en-US/index.html', page('newest'))
    clock.pass(3_000)
    expect(await text()).toContain('newest')
  })

  it('has the title of its manifest', async () => {
    expect(await (await open()).manifest()).toEqual({ display: 'fullscreen' })
  })
})
