// Names and comments need visible characters: other servers refuse objects with invisible names.

import { describe, expect, it } from '@jest/globals'
import type { z } from 'zod'
import { messageBody, reportBody } from '../../../src/http/abuses/fields.ts'
import { decisionBody, requestBody } from '../../../src/http/registrations/fields.ts'
import { formFields, jsonFields } from '../../../src/http/uploads/fields.ts'
import { displayName } from '../../../src/http/users/fields.ts'
import { blockBody } from '../../../src/http/users/schemas.ts'
import { newPlaylist, playlistChanges } from '../../../src/http/video-playlists/fields.ts'
import { updateFields } from '../../../src/http/videos/fields.ts'

const NOTHING = [
  '   ',
  '\n\t\u3000',
  '\u0001\u0002\u0003',
  ' \u200a\u0085 ',
  // Characters without glyphs: zero-width, fillers, blank Braille patterns and notes, tags, marks without a letter.
  ...['\u200b', '\u2800', '\ufffc', '\u3164', '\u00ad', '\u115f', '\u200e', '\u2060', '\u034f', '\u{e0001}', '\uffa0', '\u180e'].map(
    (sign) => sign.repeat(3),
  ),
  '\ufe0f\u200d\ufe0f',
  '\u{1d159}\u{1d159}\u{1d159}',
  '\u{e0100}\u{e0100}',
  '\u0301\u0301\u0301',
  '\u2800 \u3164\u00ad',
]
const SOMETHING = [' 名前名 ', '\u200bab\u200b', '🏳️‍🌈🇺🇦❤️', '1️⃣2️⃣', '...', '§§§', 'مرحبا', 'ไทยไ', 'e\u0301e\u0301e\u0301']
const registration = { username: 'somebody', password: 'secret password', email: 'a@example.org' }
const upload = { channelId: '1', privacy: '1' }

const FIELDS: [string, z.ZodType, (name: string) => unknown][] = [
  ['the name of a video in a form', formFields, (name) => ({ ...upload, name })],
  ['the name of a video in JSON', jsonFields, (name) => ({ channelId: 1, privacy: 1, name })],
  ['another name of a video', updateFields('json'), (name) => ({ name })],
  ['the name of a playlist', newPlaylist, (displayName) => ({ displayName })],
  ['another name of a playlist', playlistChanges, (displayName) => ({ displayName })],
  ['a tag in a form', formFields, (tag) => ({ ...upload, name: 'A video', tags: [tag] })],
  ['a tag in a change', updateFields('json'), (tag) => ({ tags: [tag] })],
  ['the reason of a registration', requestBody, (registrationReason) => ({ ...registration, registrationReason })],
  ['the answer to a registration', decisionBody, (moderationResponse) => ({ moderationResponse })],
  ['the reason of a report', reportBody, (reason) => ({ reason, video: { id: 1 } })],
  ['a message about a report', messageBody, (message) => ({ message })],
  ['the reason for blocking a user', blockBody, (reason) => ({ reason })],
  ['the name of an account or channel', displayName, (name) => name],
]

describe.each(FIELDS)('%s', (_what, schema, sent) => {
  it('is refused without a visible character', () => {
    expect(NOTHING.filter((name) => schema.safeParse(sent(name)).success)).toEqual([])
  })

  it('may have any script, with white space around it', () => {
    expect(SOMETHING.filter((name) => !schema.safeParse(sent(name)).success)).toEqual([])
  })
})
