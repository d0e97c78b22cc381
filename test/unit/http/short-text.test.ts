import { describe, expect, it } from '@jest/globals'
import { type NotificationRow, notificationTypes } from '../../../src/actors/notification/index.ts'
import { notificationList } from '../../../src/http/pages/bodies/notifications.ts'
import { shortText } from '../../../src/http/pages/bodies/text.ts'
import { html } from '../../../src/platform/html.ts'

describe('a text in a row of a list', () => {
  it('stays as it is if it is short', () => {
    for (const text of ['', 'A bird', 'x'.repeat(300), '鳥'.repeat(300)]) expect(shortText(text)).toBe(text)
  })

  it('is cut to 300 characters, or fewer if they take many bytes, and not within a character', () => {
    expect(shortText('x'.repeat(301))).toBe(`${'x'.repeat(297)}...`)
    expect(shortText('🎞'.repeat(9000))).toMatch(/^(🎞)+\.\.\.$/u)
    for (const text of ['"', '&', '<鳥', '🎞', `${'"'.repeat(200)}x`]) {
      const shown = shortText(text.repeat(1000))
      expect(shown.length).toBeGreaterThan(140)
      expect(Buffer.byteLength(html`${shown}`.text)).toBeLessThan(1300)
    }
  })
})

it('a notification shows the beginning of the address of a failed import', () => {
  const nothing = { video: null, comment: null, abuse: null, block: null, follow: null, account: null, registration: null, plugin: null }
  const row: NotificationRow = {
    ...nothing,
    caption: null,
    id: 1,
    type: notificationTypes.myVideoImportError,
    read: true,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    application_version: null,
    import: { id: 1, video: null, target_url: `https://far.example/${'x'.repeat(1980)}`, magnet_uri: null, torrent_name: null },
  }
  const form = { action: '/my-account/notifications', hidden: html`` }
  const shown = notificationList([row], form).text
  expect(shown).toContain('https://far.example/xxx')
  expect(shown.length).toBeLessThan(600)
  const nameless = { ...row, import: row.import && { ...row.import, target_url: null } }
  expect(notificationList([nameless], form).text).toContain('Your import of <bdi>a video</bdi> failed.')
})
