import { describe, expect, it } from '@jest/globals'
import { contentSecurityPolicy } from '../../../src/http/pages/layout.ts'
import { localPath } from '../../../src/http/pages/local-path.ts'
import { oneLine, plainText } from '../../../src/http/pages/plain-text.ts'
import { truncated } from '../../../src/http/videos/video.view.ts'
import { html, jsonScript, webUrl } from '../../../src/platform/html.ts'
import { startCpuTime } from '../../support/cpu-time.ts'

describe('the HTML template', () => {
  it('escapes every value but HTML, and leaves out what is not there', () => {
    const inner = html`<b>${'<i>'}</b>`
    const page = html`<p title="${`"'`}">${inner}${['&', html`<br>`]}${null}${undefined}${false}${0}</p>`
    expect(page.text).toBe('<p title="&quot;&#39;"><b>&lt;i&gt;</b>&amp;<br>0</p>')
  })

  it('puts data into a page that cannot leave its element', () => {
    const data = { text: '</script><!--\u2028&' }
    const { text } = jsonScript(data)
    expect(text.slice(0, -'</script>'.length)).not.toMatch(/<\/|<!--|\u2028/)
    expect(JSON.parse(text.replace(/^<script[^>]*>|<\/script>$/g, ''))).toEqual(data)
  })

  it('takes addresses of the web only', () => {
    expect(webUrl('https://a.example/b')).toBe('https://a.example/b')
    for (const other of ['javascript:alert(1)', 'data:text/html,x', ' java\nscript:x', 'blob:x', '', null, undefined]) {
      expect(webUrl(other)).toBeUndefined()
    }
  })
})

describe('Markdown as plain text', () => {
  it('loses its marks and keeps its words', () => {
    const text = '# Title\n\n> said\n\n**bold**, *it*, `code`, [link](https://a.example "t"), ![pic](b.png)\n\n---\n<https://c.example>'
    expect(plainText(text)).toBe('Title\n\nsaid\n\nbold, it, code, link, pic\n\nhttps://c.example')
    expect(oneLine('a\n\nb')).toBe('a b')
  })

  it('leaves names with underscores and products alone', () => {
    expect(plainText('snake_case_name 2 * 3 * 4')).toBe('snake_case_name 2 * 3 * 4')
  })

  it.each(['*', '**', '[', '![', '`', '_', '<https://', '[a]('])('is quick with ten thousand of %j', (mark) => {
    const spent = startCpuTime()
    plainText(mark.repeat(10_000 / mark.length))
    expect(spent()).toBeLessThan(1000)
  })
})

describe('a truncated text', () => {
  it('has 250 units with its dots, and no half character', () => {
    expect(truncated('a'.repeat(250))).toHaveLength(250)
    expect(truncated('a'.repeat(251))).toBe(`${'a'.repeat(247)}...`)
    expect(truncated(`${'a'.repeat(246)}😀${'a'.repeat(9)}`)).toBe(`${'a'.repeat(246)}...`)
    expect(truncated(null)).toBeNull()
  })
})

describe('a path of this server', () => {
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

describe('the policy of a page', () => {
  it('has no rules of the servers that media come from', () => {
    const good = ['https://far.example', 'http://[::1]:9000', 'https://xn--bcher-kva.example:8443']
    const bad = ['https://a;sandbox', "https://a,script-src'none'", 'null'].map((url) => URL.parse(url)?.origin ?? url)
    const policy = contentSecurityPolicy({ origins: [...good, ...bad], framed: false })
    expect(policy).toContain(`media-src 'self' ${good.join(' ')} blob:;`)
    expect(policy).not.toMatch(/sandbox|,|null/)
  })
})
