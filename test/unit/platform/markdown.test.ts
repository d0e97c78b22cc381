// Markdown as HTML for feeds: the usual syntax, without active content.

import { describe, expect, it } from '@jest/globals'
import { markdownToHtml } from '../../../src/platform/markdown.ts'
import { startCpuTime } from '../../support/cpu-time.ts'
import fc from '../../support/properties.ts'

const BASE = 'https://video.example'
const shown = (markdown: string) => markdownToHtml(markdown, BASE)
const link = (url: string, text = url) => `<a href="${url}" rel="nofollow noopener noreferrer">${text}</a>`

describe('Markdown', () => {
  it.each<[markdown: string, html: string]>([
    ['a **markdown** description', '<p>a <strong>markdown</strong> description</p>\n'],
    ['', ''],
    ['one\ntwo\r\n\r\nthree', '<p>one<br>\ntwo</p>\n<p>three</p>\n'],
    [
      '*a* _b_ ~~c~~ `d*e*` snake_case_name 2 * 3 * 4',
      '<p><em>a</em> <em>b</em> <s>c</s> <code>d*e*</code> snake_case_name 2 * 3 * 4</p>\n',
    ],
    ['**bold *and* more**', '<p><strong>bold <em>and</em> more</strong></p>\n'],
    ['# Title #\n## Second', '<h1>Title</h1>\n<h2>Second</h2>\n'],
    ['- one\n- two\n\n1. first\n2. second', '<ul>\n<li>one</li>\n<li>two</li>\n</ul>\n<ol>\n<li>first</li>\n<li>second</li>\n</ol>\n'],
    ['> said\n> **so**\n---', '<blockquote>\n<p>said<br>\n<strong>so</strong></p>\n</blockquote>\n<hr>\n'],
    ['```js\n<a> *b*\n```\nafter', '<pre><code>&lt;a&gt; *b*\n</code></pre>\n<p>after</p>\n'],
    [String.raw`\*not\* \<b>`, '<p>*not* &lt;b&gt;</p>\n'],
    ['see https://a.example/x?y=1&z=2.', `<p>see ${link('https://a.example/x?y=1&amp;z=2')}.</p>\n`],
    ['<https://a.example/>', `<p>${link('https://a.example/')}</p>\n`],
    [
      '[here](/w/abc "title") ![picture](https://a.example/p.png)',
      `<p>${link(`${BASE}/w/abc`, 'here')} ${link('https://a.example/p.png', 'picture')}</p>\n`,
    ],
    ['[x](javascript:alert(1)) [y](data:text/html,1)', '<p>[x](javascript:alert(1)) [y](data:text/html,1)</p>\n'],
    ['<img src=x onerror=alert(1)>', '<p>&lt;img src=x onerror=alert(1)&gt;</p>\n'],
  ])('%j', (markdown, html) => expect(shown(markdown)).toBe(html))

  it('has a fixed set of tags and attributes, for any input', () => {
    const piece = fc.constantFrom(
      '**',
      '*',
      '_',
      '`',
      '[',
      '](',
      ')',
      '<',
      '>',
      '"',
      "'",
      '&',
      '\n',
      '> ',
      '- ',
      '1. ',
      '# ',
      '~~',
      '```',
      '\\',
      ' ',
      'a',
      '!',
      ']]>',
      'javascript:alert(1)',
      'https://a.example/',
      '<script>',
      'onload=',
      '"onclick="x',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const html = shown(pieces.join(''))
        const rest = html
          .replace(/<a href="https?:\/\/[^"<>]*" rel="nofollow noopener noreferrer">/g, '')
          .replace(/<\/?(?:p|strong|em|s|code|pre|ul|ol|li|blockquote|h[1-6]|a)>|<br>|<hr>/g, '')
        expect(rest).not.toMatch(/[<>"]/)
      }),
    )
  })

  it.each<[markdown: string, html: string]>([
    ['0:00 Intro', '[0] Intro'],
    ['see 1:02:03, then 75:10.', 'see [3723], then [4510].'],
    ['**2:03** (4:05)', '<strong>[123]</strong> ([245])'],
    ['<b>1:00</b> & "2:00"', '&lt;b&gt;[60]&lt;/b&gt; &amp; &quot;[120]&quot;'],
    ['[1:00](https://a.example/) https://a.example/1:00', `${link('https://a.example/', '1:00')} ${link('https://a.example/1:00')}`],
    ['`1:00` 16:9 1:2:3 1:60 10:00:00:00 v1:00 1:00.5 5:77:00', '<code>1:00</code> 16:9 1:2:3 1:60 10:00:00:00 v1:00 1:00.5 5:77:00'],
  ])('%j links timestamps, if it is about a video', (markdown, expected) => {
    const html = markdownToHtml(markdown, BASE, { watch: '/w/abc' })
    const marked = html.replace(/<a href="\/w\/abc\?start=(\d+)" data-seek="\1">[\d:]+<\/a>/g, '[$1]')
    expect(marked).toBe(`<p>${expected}</p>\n`)
    expect(shown(markdown)).not.toContain('data-seek')
  })

  it.each([
    ['Hi @Ann@a.example. And @bob@b.example:8080!', 'Hi [@Ann@a.example]. And [@bob@b.example:8080]!'],
    ['**@ann@a.example** @eve@a.example', '<strong>[@ann@a.example]</strong> @eve@a.example'],
    ['x@ann@a.example @@ann@a.example `@ann@a.example`', 'x@ann@a.example @@ann@a.example <code>@ann@a.example</code>'],
    ['[@ann@a.example](https://c.example/)', link('https://c.example/', '@ann@a.example')],
    ['<b>@ann@a.example</b>', '&lt;b&gt;[@ann@a.example]&lt;/b&gt;'],
  ])('%j links mentioned actors', (markdown, expected) => {
    const mentions = new Map([
      ['ann@a.example', 'https://a.example/ann?a=1&b=2'],
      ['bob@b.example:8080', 'https://b.example/bob'],
    ])
    const html = markdownToHtml(markdown, BASE, { mentions })
    const marked = html
      .replace(/<a href="https:\/\/a\.example\/ann\?a=1&amp;b=2" class="u-url mention">(@\w+@a\.example)<\/a>/g, '[$1]')
      .replace(/<a href="https:\/\/b\.example\/bob" class="u-url mention">(@bob@b\.example:8080)<\/a>/g, '[$1]')
    expect(marked).toBe(`<p>${expected}</p>\n`)
  })

  it.each(['*', '**a', '[', '[a](', '`', '_', '~~a', '> ', '- ', '!['])('is fast for many of %j', (mark) => {
    const spent = startCpuTime()
    shown(mark.repeat(10_000 / mark.length))
    shown(`${mark}\n`.repeat(3000))
    expect(spent()).toBeLessThan(1500)
  })

  it('has no tables, since their empty cells would blow up the output', () => {
    const bomb = `|${'a|'.repeat(200)}\n|${'-|'.repeat(200)}\n${'a\n'.repeat(4500)}`
    expect(markdownToHtml(bomb, 'https://video.example').length).toBeLessThan(5 * bomb.length)
  })
})
