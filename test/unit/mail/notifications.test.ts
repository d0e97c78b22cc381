// Mails of notifications: both bodies, and escaping of user text.

import { describe, expect, it } from '@jest/globals'
import { renderMail } from '../../../src/actors/mail/templates/layout.ts'
import { aboutOf, severalOf } from '../../../src/actors/mail/templates/notice-kinds.ts'
import { noticeLetter, threadOf } from '../../../src/actors/mail/templates/notice-mail.ts'
import type { Notice } from '../../../src/actors/mail/templates/notices.ts'
import { notificationTypes, settingOf } from '../../../src/actors/notification/types.ts'
import { notificationDefaults } from '../../../src/actors/notification-setting/index.ts'
import { english, type Language } from '../../../src/platform/language.ts'
import { languages } from '../../../src/platform/languages.ts'
import { notices } from './notices.ts'

const at = {
  origin: 'https://videos.example',
  unsubscribe: 'https://videos.example/mail-preferences/unsubscribe/1/x/f00',
}
const stationery = {
  subjectPrefix: '[Cats]',
  signature: 'Vireo',
  instanceName: 'Videos of cats',
  instanceUrl: at.origin,
}
const render = (notice: Notice) =>
  renderMail(noticeLetter({ kind: notice.kind, setting: settingOf(notice.kind), notices: [notice], total: 1 }, at), stationery)
const ofKind = (kind: Notice['kind'], words = 'A walk'): Notice => {
  const found = notices(words).find((notice) => notice.kind === kind)
  if (!found) throw new Error(`There is no example of ${kind}.`)
  return found
}

it.each(languages.filter((language) => language !== english))("is in the recipient's language: $tag", (language) => {
  const said = (notice: Notice, reader: Language) =>
    renderMail(noticeLetter({ kind: notice.kind, setting: settingOf(notice.kind), notices: [notice], total: 1 }, at), stationery, reader)
  for (const notice of notices('A walk')) {
    const [own, other] = [said(notice, language), said(notice, english)]
    expect(own.subject).not.toBe(other.subject)
    expect(own.html).toContain(`<html lang="${language.tag}" dir="ltr">`)
    const lines = new Set(other.text.split('\n').filter((line) => line !== '' && !/^(https:|> |\(|Vireo$|Videos of cats)/.test(line)))
    expect(own.text.split('\n').filter((line) => lines.has(line))).toEqual([])
  }
  const several = noticeLetter(
    { kind: 'myVideoPublished', setting: 'myVideoPublished', notices: notices('A walk').slice(0, 1), total: 1234 },
    at,
  )
  expect(renderMail(several, stationery, language).subject).not.toMatch(/of your videos|1,234/)
})

const FOOT = `Vireo

Videos of cats: https://videos.example
`

describe('the plain text', () => {
  it('names a comment, quotes it, and links to it', () => {
    const comment = { ...ofKind('newCommentOnMyVideo'), text: 'Where is that?\n\nIt looks lovely.' }
    expect(render(comment)).toMatchObject({
      subject: '[Cats] New comment on your video “A walk”',
      text: `New comment

A walk (tom@videos.example) commented on your video “A walk”:

> Where is that?
> 
> It looks lovely.

Read and reply:
https://videos.example/w/3gJ8mpnQUZfXzLYxoaDrhF;threadId=7

${FOOT}
You receive this mail because of this setting: Comments on your videos.
Change your notification settings:
https://videos.example/my-account/notifications
Stop mails of this kind:
https://videos.example/mail-preferences/unsubscribe/1/x/f00
`,
    })
  })

  it('links moderators to the report, and reporters to their own page', () => {
    const { text } = render(ofKind('newAbuseForModerators'))
    expect(text).toContain('A walk reported the video “A walk” by A walk (spam):\n\n> A walk\n\nReview the report:\n')
    expect(text).toContain('/admin/moderation/abuses/list?search=%2312\n')
    const [toModerators, toReporter] = notices('Hello').filter(({ kind }) => kind === 'abuseNewMessage')
    expect(toModerators && render(toModerators).text).toContain('Hello wrote about report #12 about a comment:')
    expect(toReporter && render(toReporter).text).toContain('The moderators wrote about your report #12 about a comment:')
    expect(toReporter && render(toReporter).text).toContain('https://videos.example/my-account/abuses?search=%2312\n')
  })

  it('lists combined notifications, and counts the omitted ones', () => {
    const several = Array.from({ length: 20 }, () => ofKind('myVideoPublished'))
    const mail = noticeLetter({ kind: 'myVideoPublished', setting: 'myVideoPublished', notices: several, total: 1234 }, at)
    const { subject, text, html } = renderMail(mail, stationery)
    expect(subject).toBe('[Cats] 1,234 of your videos were published')
    expect(text.match(/^\* “A walk”\n {2}https:\S+$/gm)).toHaveLength(20)
    expect(text).toContain('\n\nand 1,214 more\n\nSee your notifications:\n')
    expect(html.match(/<li /g)).toHaveLength(20)
  })
})

it('a comment is rendered from its Markdown in the HTML, and plain in the text', () => {
  const words =
    '**Bold** and [a link](https://example.com/x)\n- one\n- <b>two</b>\n\n![x](https://example.com/p.png) [y](javascript:alert(1))'
  for (const kind of ['newCommentOnMyVideo', 'commentMention'] as const) {
    const { html, text } = render({ ...(ofKind(kind) as Extract<Notice, { text: string }>), text: words })
    expect(text).toContain('> **Bold** and [a link](https://example.com/x)\n> - one\n> - <b>two</b>')
    expect(html).toContain('<strong>Bold</strong> and <a href="https://example.com/x" rel="nofollow noopener noreferrer">a link</a>')
    expect(html).toMatch(/<ul>\s*<li>one<\/li>\s*<li>&lt;b&gt;two&lt;\/b&gt;<\/li>\s*<\/ul>/)
    expect(html).not.toMatch(/<img|href="javascript/)
  }
})

it('the HTML has the same content', () => {
  const { html } = render(ofKind('newInstanceFollower'))
  expect(html).toContain('<title>New follower awaiting approval: tom@videos.example</title>')
  expect(html).toContain('>A walk (tom@videos.example) requests to follow this server and awaits your approval.</p>')
  expect(html).toContain('<a href="https://videos.example/admin/settings/follows/followers-list" style="display:inline-block')
  expect(html).toContain('because of this setting: New followers of this server')
  expect(html).toContain(`<a href="${at.unsubscribe}"`)
})

const cases = (words: string) => notices(words).map((notice): [string, Notice] => [notice.kind, notice])

it('each type with a cause has a template and an example here', () => {
  const types = Object.keys(notificationTypes)
  expect(new Set(notices('').map(({ kind }) => kind))).toEqual(new Set(types))
  expect(Object.keys(severalOf).toSorted()).toEqual(types.toSorted())
  expect(Object.keys(aboutOf).toSorted()).toEqual(Object.keys(notificationDefaults).toSorted())
})

describe.each([
  ['ordinary words', 'A walk'],
  ['no words', ''],
  ['markup', '<img src=x onerror=alert(1)>"\'&</title><script>'],
  ['lines and headers', 'x\r\nBcc: victim@example.com\r\n\r\n<q>\u0085\u2028y\0\u001B[31m'],
  ['turned round', '\u202Eexe.slp\u2066a\u200F\uFEFF\u{E0041}'],
  ['one endless word', 'W'.repeat(5000)],
  ['one heap of accents', `a${'\u0301'.repeat(3000)}`],
  ['many lines', 'line\n'.repeat(2000)],
  ['half a character', `${'\u{1F600}'.repeat(3000)}\uD83D`],
])('with %s', (_about, words) => {
  it.each(cases(words))('escapes text in every mail: %s', (_kind, notice) => {
    const { subject, text, html } = render(notice)
    expect(subject).toMatch(/^\[Cats\] \S/)
    expect(subject.length).toBeLessThan(160)
    expect(subject).not.toMatch(/\p{Cc}/u)
    for (const shown of [subject, text, html]) {
      expect(shown).not.toMatch(/(?!\n)\p{Cc}|[\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069\p{Cs}]/u)
    }
    // User text is within a line or quoted, and never starts a line.
    expect(text).not.toMatch(/^Bcc:/m)
    expect(text.split('\n').filter((line) => Buffer.byteLength(line) > 998)).toEqual([])
    expect(html.split('\n').filter((line) => Buffer.byteLength(line) > 20_000)).toEqual([])
    expect(text.length).toBeLessThan(4000)
    expect(html).not.toMatch(/<script|<img|onerror=alert\(1\)>|<q>/)

    // One action, the reason for the mail, and an unsubscribe link; no other links.
    expect(text).toContain('\nYou receive this mail because of this setting: ')
    const addresses = text.match(/^https:\S+$/gm) ?? []
    expect(addresses).toHaveLength(3)
    expect(addresses.slice(1)).toEqual(['https://videos.example/my-account/notifications', at.unsubscribe])
    const links = [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, url]) => url)
    expect(links).toEqual([addresses[0], at.origin, ...addresses.slice(1)])
  })

  it.each(cases(words))('can be part of a digest: %s', (_kind, notice) => {
    const mail = noticeLetter(
      {
        kind: notice.kind,
        setting: settingOf(notice.kind),
        notices: Array.from({ length: 20 }, () => notice),
        total: 21,
      },
      at,
    )
    const { text, html } = renderMail(mail, stationery)
    expect(text).toContain('\nand 1 more\n')
    expect(text.match(/^\* \S/gm)).toHaveLength(20)
    expect(text.split('\n').filter((line) => Buffer.byteLength(line) > 998)).toEqual([])
    expect(html).not.toMatch(/<script|<img/)
  })
})

it('lines of paragraphs and quotations have 78 characters at most', () => {
  for (const notice of notices('How to paint a fence in one afternoon, and why one should let friends do it, all of it')) {
    const lines = render(notice)
      .text.split('\n')
      .filter((line) => !line.startsWith('https:'))
    expect(lines.filter((line) => [...line].length > 78)).toEqual([])
  }
})

it('mails about one report, or about the comments of one video, are one thread', () => {
  const report = notices('x').filter(({ kind }) => /abuse/i.test(kind))
  expect(report.length).toBeGreaterThan(3)
  expect(new Set(report.map((notice) => threadOf([notice])))).toEqual(new Set(['report-12']))
  const comments = notices('x').filter(({ kind }) => kind === 'newCommentOnMyVideo')
  expect(threadOf(comments)).toBe('comments-3gJ8mpnQUZfXzLYxoaDrhF')
  expect(threadOf([ofKind('newFollow')])).toBeUndefined()
  const [comment, mention] = [ofKind('newCommentOnMyVideo'), ofKind('newFollow')]
  expect(threadOf([comment, mention])).toBeUndefined()
})
