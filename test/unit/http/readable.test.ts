// What cannot be read is no name and no comment: other servers refuse what is called so, the whole of it.

import { describe, expect, it } from '@jest/globals'
import type { z } from 'zod'
import { formFields, jsonFields } from '../../../src/http/uploads/fields.ts'
import { displayName } from '../../../src/http/users/fields.ts'
import { newPlaylist, playlistChanges } from '../../../src/http/video-playlists/fields.ts'
import { updateFields } from '../../../src/http/videos/fields.ts'

const NOTHING = ['   ', '\n\t\u3000', '\u0001\u0002\u0003', ' \u200a\u0085 ']
const upload = { channelId: '1', privacy: '1' }

const FIELDS: [string, z.ZodType, (name: string) => unknown][] = [
  ['the name of a video in a form', formFields, (name) => ({ ...upload, name })],
  ['the name of a video in JSON', jsonFields, (name) => ({ channelId: 1, privacy: 1, name })],
  ['another name of a video', updateFields('json'), (name) => ({ name })],
  ['the name of a playlist', newPlaylist, (displayName) => ({ displayName })],
  ['another name of a playlist', playlistChanges, (displayName) => ({ displayName })],
  ['the name of an account or channel', displayName, (name) => name],
]

describe.each(FIELDS)('%s', (_what, schema, sent) => {
  it('is refused when nothing of it can be read', () => {
    expect(NOTHING.filter((name) => schema.safeParse(sent(name)).success)).toEqual([])
  })

  it('may be of any script, with white space around it', () => {
    expect(schema.safeParse(sent(' 名前名 ')).error).toBeUndefined()
  })
})
