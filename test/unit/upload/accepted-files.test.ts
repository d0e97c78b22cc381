// Accepted files, and their content types.

import { expect, it } from '@jest/globals'
import { acceptedExtensions } from '../../../src/actors/upload/index.ts'
import { contentTypeOf } from '../../../src/media/index.ts'
import { testConfig } from '../../support/config.ts'

it('every accepted file is served with a video or audio type, since it plays before it is encoded', () => {
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
