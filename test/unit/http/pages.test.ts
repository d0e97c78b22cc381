import { describe, expect, it } from '@jest/globals'
import { z } from 'zod'
import { contentSecurityPolicy, layout } from '../../../src/http/pages/layout.ts'
import { problemOf } from '../../../src/http/pages/screens/problems.ts'
import { localPath } from '../../../src/http/plugins/local-path.ts'
import { truncated } from '../../../src/http/videos/video.view.ts'
import { html, jsonScript, rich, webUrl } from '../../../src/platform/html.ts'
import { english, inNumbers, known, listed, makeLanguage, t } from '../../../src/platform/language.ts'
import { oneLine, plainText } from '../../../src/platform/plain-text.ts'
import { startCpuTime } from '../../support/cpu-time.ts'

describe('the HTML template', () => {
  it('escapes every value except HTML, and omits undefined ones', () => {
    const inner = html`<b>${'<i>'}</b>`
    const page = html`<p title="${`"'`}">${inner}${['&', html`<br>`]}${null}${undefined}${false}${0}</p>`
    expect(page.text).toBe('<p title="&quot;&#39;"><b>&lt;i&gt;</b>&amp;<br>0</p>')
  })

  it('embeds data that cannot leave its element', () => {
    const data = { text: '</script><!--\u2028&' }
    const { text } = jsonScript(data)
    expect(text.slice(0, -'</script>'.length)).not.toMatch(/<\/|<!--|\u2028/)
    expect(JSON.parse(text.replace(/^<script[^>]*>|<\/script>$/g, ''))).toEqual(data)
  })

  it('accepts http(s) URLs only', () => {
    expect(webUrl('https://a.example/b')).toBe('https://a.example/b')
    for (const other of ['javascript:alert(1)', 'data:text/html,x', ' java\nscript:x', 'blob:x', '', null, undefined]) {
      expect(webUrl(other)).toBeUndefined()
    }
  })
})

describe('a translated text', () => {
  const views = '{count, plural, one {# view} other {# views}}'
  const german = makeLanguage('de', () => ({
    Save: 'Speichern',
    [views]: '{count, plural, one {# Aufruf} other {# Aufrufe}}',
    '<a>Log in</a>, {name}': '{name}: <a>anmelden</a> & <a>los</a>',
  }))

  it('is resolved when the page is rendered, and English by default', () => {
    const page = html`<p title="${t('Save')}">${t(views, { count: 1 })}, ${t(views, { count: 12_345 })}${inNumbers(0.5)}</p>`
    expect(page.text).toBe('<p title="Save">1\u00a0view, 12,345\u00a0views0.5</p>')
    expect(page.in(german)).toBe('<p title="Speichern">1\u00a0Aufruf, 12.345\u00a0Aufrufe0,5</p>')
    expect(t('Delete').in(german)).toBe('Delete')
  })

  it('is escaped, with its parameters', () => {
    const page = rich('<a>Log in</a>, {name}', { a: (inside) => html`<b>${inside}</b>`, name: '<i>{x}' })
    expect(page.text).toBe('<b>Log in</b>, &lt;i&gt;{x}')
    expect(page.in(german)).toBe('&lt;i&gt;{x}: <b>anmelden</b> &amp; <b>los</b>')
    expect(html`${t('{text}', { text: '<i>' })}${known('</script>{x, plural,')}`.text).toBe('&lt;i&gt;&lt;/script&gt;{x, plural,')
    expect(rich('{video} is there', { video: html`<i>${t('Save')}</i>` }).in(german)).toBe('<i>Speichern</i> is there')
  })

  it('has lists, dates and names of languages', () => {
    const date = new Date('2026-11-28T15:05:00Z')
    expect(listed(['a', t('Save'), 'c']).in(german)).toBe('a, Speichern und c')
    expect([german.day(date), german.time(date), english.day(date)]).toEqual(['28. November 2026', '15:05', 'November 28, 2026'])
    expect([german.nameOf('fr'), german.nameOf('xx'), german.nameOf('no code <')]).toEqual(['Französisch', undefined, undefined])
  })

  it('is on a page with its direction', () => {
    const page = (tag: string) =>
      layout(
        { title: t('Save'), body: html`` },
        { name: 'Lake' },
        { style: '/s.css' },
        makeLanguage(tag, () => ({})),
      )
    expect(page('ar')).toContain('<html lang="ar" dir="rtl"')
    expect(page('he-IL')).toContain('dir="rtl"')
    expect(page('fr-CA')).toContain('<html lang="fr-CA" dir="ltr"')
  })
})

describe('the error of a field', () => {
  it.each([
    [z.string().min(3), 'x', 'At least 3\u00a0characters.'],
    [z.string().max(1), 'xx', 'At most 1\u00a0character.'],
    [z.number().min(-1), -2, 'At least -1.'],
    [z.int().max(1000), 1001, 'At most 1,000.'],
    [z.array(z.string()).min(1), [], 'At least 1\u00a0entry.'],
    [z.array(z.string()).max(2), ['', '', ''], 'At most 2\u00a0entries.'],
    [z.number(), 'x', 'A number is needed.'],
    [z.enum(['a', 'b']), 'c', 'This value is not possible here.'],
    [z.iso.datetime(), 'c', 'This value is not possible here.'],
    [z.string().min(3, 'Should be long'), 'c', 'Should be long'],
  ])('is worded for people: %#', (schema, value, text) => {
    expect(problemOf(schema.safeParse(value).error?.issues[0]?.message ?? '').in(english)).toBe(text)
  })
})

describe('Markdown as plain text', () => {
  it('loses its markup and keeps its text', () => {
    const text = '# Title\n\n> said\n\n**bold**, *it*, `code`, [link](https://a.example "t"), ![pic](b.png)\n\n---\n<https://c.example>'
    expect(plainText(text)).toBe('Title\n\nsaid\n\nbold, it, code, link, pic\n\nhttps://c.example')
    expect(oneLine('a\n\nb')).toBe('a b')
  })

  it('keeps names with underscores, and products', () => {
    expect(plainText('snake_case_name 2 * 3 * 4')).toBe('snake_case_name 2 * 3 * 4')
  })

  it.each(['*', '**', '[', '![', '`', '_', '<https://', '[a]('])('is fast with ten thousand of %j', (mark) => {
    const spent = startCpuTime()
    plainText(mark.repeat(10_000 / mark.length))
    expect(spent()).toBeLessThan(1000)
  })
})

describe('a truncated text', () => {
  it('has 250 units including the ellipsis, and no half character', () => {
    expect(truncated('a'.repeat(250))).toHaveLength(250)
    expect(truncated('a'.repeat(251))).toBe(`${'a'.repeat(247)}...`)
    expect(truncated(`${'a'.repeat(246)}😀${'a'.repeat(9)}`)).toBe(`${'a'.repeat(246)}...`)
    expect(truncated(null)).toBeNull()
  })
})

describe('a local path', () => {
  it.each([
    '//evil.example',
    '/\\evil.example',
    '/.//evil.example',
    '/x/..//evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    '/a\r\nset-cookie: x=y',
    '/\u2028',
    '',
    ['/a', '/b'],
    `/${'a'.repeat(2000)}`,
  ])('is not %j', (text) => {
    expect(localPath(text, 'instead')).toBe('instead')
  })

  it('keeps its query, and loses its fragment', () => {
    expect(localPath('/w/x?start=1&a=//b#c')).toBe('/w/x?start=1&a=//b')
  })
})

describe('the CSP of a page', () => {
  it('contains no directives of media servers', () => {
    const good = ['https://far.example', 'http://[::1]:9000', 'https://xn--bcher-kva.example:8443']
    const bad = ['https://a;sandbox', "https://a,script-src'none'", 'null'].map((url) => URL.parse(url)?.origin ?? url)
    const policy = contentSecurityPolicy({ origins: [...good, ...bad], framed: false })
    expect(policy).toContain(`media-src 'self' ${good.join(' ')} blob:;`)
    expect(policy).not.toMatch(/sandbox|,|null/)
  })
})
