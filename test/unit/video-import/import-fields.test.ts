// The name and other fields of an imported video.

import { describe, expect, it } from '@jest/globals'
import { beginningOf, fieldsFrom, languageOf, plainFields } from '../../../src/actors/video-import/import-fields.ts'
import { startCpuTime } from '../../support/cpu-time.ts'

const nowhere = { targetUrl: null, magnetUri: null, torrentName: null, torrentTitle: null }
const fields = plainFields(1, { privacy: 4, licence: 3, commentsPolicy: 3, downloadEnabled: false })

describe('the default name of a video is from', () => {
  it.each([
    ['its file', { targetUrl: 'https://site.example/a/My%20holidays.mp4?x=1' }, 'My holidays'],
    ['its site', { targetUrl: 'https://site.example/' }, 'site.example'],
    ['its site, when the file has too short a name', { targetUrl: 'https://site.example/a.mp4' }, 'site.example'],
    ['its magnet URI', { magnetUri: 'magnet:?xt=urn:btih:abc&dn=A+torrent' }, 'A torrent'],
    ['its torrent', { torrentName: 'sent.torrent', torrentTitle: 'holidays.mp4' }, 'holidays.mp4'],
    ['its torrent file', { torrentName: 'holidays.torrent' }, 'holidays'],
    ['nothing', { magnetUri: 'magnet:?xt=urn:btih:abc' }, 'Imported video'],
    ['a broken address', { targetUrl: 'https://site.example/%E0%A4%A' }, '%E0%A4%A'],
  ])('%s', (_what, target, name) => {
    expect(beginningOf(fields, { ...nowhere, ...target }).name).toBe(name)
  })
})

it("a video without metadata has the server's defaults", () => {
  const begun = beginningOf(fields, nowhere)
  expect(begun).toMatchObject({ privacy: 4, licence: 3, commentsPolicy: 3, downloadEnabled: false })
  expect(begun).not.toHaveProperty('isLicenceOpen')
})

describe("from the site's metadata it uses", () => {
  const metadata = {
    title: 'A title',
    description: 'A description',
    tags: ['one', 'x', 'one'],
    categories: ['music'],
    licence: 'CC BY-SA 4.0',
    language: 'fr-FR',
    ageLimit: 0,
    publishedAt: new Date(0),
  }

  it('fields that its user left out', () => {
    expect(fieldsFrom(metadata, fields)).toEqual({
      name: 'A title',
      description: 'A description',
      tags: ['one'],
      category: 1,
      licence: 2,
      language: 'fr',
      nsfw: false,
      originallyPublishedAt: '1970-01-01T00:00:00.000Z',
    })
  })

  it('nothing that its user set', () => {
    const chosen = {
      ...fields,
      name: 'mine',
      nsfw: true,
      description: 'mine',
      tags: ['mine'],
      category: 2,
      licence: 1,
      isLicenceOpen: false,
      language: 'de',
      originallyPublishedAt: '2020-01-01T00:00:00.000Z',
    }
    expect(fieldsFrom(metadata, chosen)).toEqual({})
  })

  it('texts truncated to their limits', () => {
    const long = { title: 'a'.repeat(5e7), description: ` ${'b'.repeat(5e7)}` }
    const spent = startCpuTime()
    const { name, description } = fieldsFrom(long, fields)
    expect(spent()).toBeLessThan(1500)
    expect([name?.length, description?.length]).toEqual([120, 10_000])
  })

  it('valid values only', () => {
    const flood = { title: '😀'.repeat(100), description: 'x\0'.repeat(20_000), tags: ['x'.repeat(31), ' ', 'a\0'] }
    const { name = '', description = '', ...others } = fieldsFrom({ ...flood, language: 'xx-YY', licence: 'mine' }, fields)
    expect([name, description?.length]).toEqual(['😀'.repeat(60), 10_000])
    expect(others).toEqual({})
    expect(fieldsFrom({ title: ' \n ', description: '', tags: [] }, fields)).toEqual({})
  })
})

it('languages by the codes of other sites', () => {
  expect(['en-US', 'pt-PT', 'zh-Hans', 'EN', 'live_chat', ''].map(languageOf)).toEqual([
    'en',
    'pt-PT',
    'zh-Hans',
    'en',
    undefined,
    undefined,
  ])
})
