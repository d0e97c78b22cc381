// The two bodies of mails.

import { describe, expect, it } from '@jest/globals'
import { renderMail } from '../../../src/actors/mail/templates/layout.ts'
import * as letters from '../../../src/actors/mail/templates/letters.ts'
import { english } from '../../../src/platform/language.ts'

const stationery = {
  subjectPrefix: '[V]',
  signature: 'Vireo',
  instanceName: 'Videos\r\nBcc: x@example.com',
  instanceUrl: 'https://videos.example',
}
const evil = '<script>alert(1)</script>"\'&'
const link = { url: 'https://videos.example/a?b=1&c=2', lifetimeMs: 3_600_000 }
const to = { username: evil, instanceName: evil }

describe('every template', () => {
  it.each([
    ['verifyEmail', letters.verifyEmail({ ...to, ...link })],
    ['verifyNewEmail', letters.verifyNewEmail({ ...to, ...link })],
    ['verifyRegistration', letters.verifyRegistration({ ...to, ...link })],
    ['resetPassword', letters.resetPassword({ ...to, ...link })],
    ['createPassword', letters.createPassword({ ...to, ...link })],
    ['registrationAccepted', letters.registrationAccepted({ ...to, response: evil, url: link.url })],
    ['registrationRejected', letters.registrationRejected({ ...to, response: evil })],
  ])('is escaped in HTML and plain in text: %s', (_name, letter) => {
    const { subject, text, html } = renderMail(letter, stationery)
    expect(subject).toMatch(/^\[V\] \S/)
    expect(html).not.toContain('<script')
    expect(html).toContain('&lt;script&gt;')
    expect(text).toContain(evil)
    for (const url of text.match(/https:\S+\?\S+/g) ?? []) {
      expect(url).toBe(link.url)
      expect(html).toContain('href="https://videos.example/a?b=1&amp;c=2"')
    }
  })
})

it('a subject is a single line', () => {
  const { subject, text } = renderMail({ subject: 'Hello\r\nTo: y', heading: 'Hi', blocks: [] }, stationery)
  expect(subject).toBe('[V] Hello To: y')
  expect(text).toContain('Videos Bcc: x@example.com: https://videos.example')
})

it('user text is quoted, line by line', () => {
  const { text } = renderMail({ subject: 's', heading: 'h', blocks: [{ quote: 'one\r\n\r\ntwo' }] }, stationery)
  expect(text).toContain('> one\n> \n> two')
})

it.each([
  [3_600_000, '1 hour'],
  [7 * 86_400_000, '7 days'],
  [90 * 60_000, '90 minutes'],
  [119_999, '1 minute'],
  [600_000, '10 minutes'],
  [5, '1 minute'],
])('%i ms are %s', (ms, words) => {
  expect(letters.inWords(ms).in(english).replace('\u00a0', ' ')).toBe(words)
})
