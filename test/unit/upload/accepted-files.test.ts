// Which files are taken, and what they are served as.

import { expect, it } from '@jest/globals'
import { acceptedExtensions } from '../../../src/actors/upload/index.ts'
import { contentTypeOf } from '../../../src/media/index.ts'
import { testConfig } from '../../support/config.ts'

it('every file that is taken is served as the film or sound that it is, since it is there before it is encoded', () => {
  const accepted = acceptedExtensions(testConfig())
  expect(accepted).toEqual(expect.arrayContaining(['.mp4', '.avi', '.flac']))
  expect(accepted.filter((extension) => !/^(video|audio)\//.test(contentTypeOf(`file${extension}`)))).toEqual(['.mxf'])
  expect(['.flac', '.wav', '.3gp', '.mpg', '.m2ts'].map((extension) => contentTypeOf(`file${extension}`))).toEqual([
    'audio/flac',
    'audio/wav',
    'video/3gpp',
    'video/mpeg',
    'video/mp2t',
  ])
  expect(contentTypeOf('file.mxf')).toBe('application/mxf')
})
