// Which files of a video can be removed.

import { describe, expect, it } from '@jest/globals'
import { type FilesAsked, filesToRemove, type RemovableFile } from '../../../src/actors/video/files/file-removal.ts'

const file = (id: number, hls: boolean, streams: 'picture' | 'sound' | 'both'): RemovableFile => ({
  id,
  hls,
  hasVideo: streams !== 'sound',
  hasAudio: streams !== 'picture',
})
const web = [file(1, false, 'both'), file(2, false, 'both')]
const hls = [file(11, true, 'both'), file(12, true, 'both')]
const split = [file(21, true, 'picture'), file(22, true, 'picture'), file(23, true, 'sound')]

const idsOf = (files: RemovableFile[], requested: FilesAsked) => filesToRemove(files, requested).map(({ id }) => id)
const refusal = (files: RemovableFile[], requested: FilesAsked): unknown => {
  try {
    return idsOf(files, requested)
  } catch (error) {
    return error
  }
}

describe('removable files', () => {
  it.each<[about: string, files: RemovableFile[], asked: FilesAsked, gone: number[]]>([
    ['all of HLS beside web videos', [...web, ...hls], { format: 'hls' }, [11, 12]],
    ['all web videos beside HLS', [...web, ...hls], { format: 'web-videos' }, [1, 2]],
    ['all web videos beside HLS with sound apart', [...web, ...split], { format: 'web-videos' }, [1, 2]],
    ['one of HLS', hls, { format: 'hls', fileId: 11 }, [11]],
    ['one web video', web, { format: 'web-videos', fileId: 2 }, [2]],
    ['the last of HLS beside web videos', [...web, file(11, true, 'both')], { format: 'hls', fileId: 11 }, [11]],
    ['the last web video beside HLS', [file(1, false, 'both'), ...hls], { format: 'web-videos', fileId: 1 }, [1]],
    ['one of HLS with sound apart', split, { format: 'hls', fileId: 21 }, [21]],
    ['sound that pictures do not need', [file(11, true, 'both'), file(13, true, 'sound')], { format: 'hls', fileId: 13 }, [13]],
    [
      'the last picture of HLS with the sound that only it needed',
      [...web, file(21, true, 'picture'), file(23, true, 'sound')],
      { format: 'hls', fileId: 21 },
      [21, 23],
    ],
    ['a video that is sound alone', [file(1, false, 'sound'), file(13, true, 'sound')], { format: 'hls', fileId: 13 }, [13]],
  ])('%s', (_about, files, requested, gone) => {
    expect(idsOf(files, requested)).toEqual(gone)
  })
})

describe('required files', () => {
  it.each<[about: string, files: RemovableFile[], asked: FilesAsked, kind: string]>([
    ['HLS that is not there', web, { format: 'hls' }, 'invalid'],
    ['one of HLS where there is none', web, { format: 'hls', fileId: 11 }, 'invalid'],
    ['web videos that are not there', hls, { format: 'web-videos' }, 'invalid'],
    ['an unknown web video', hls, { format: 'web-videos', fileId: 5 }, 'not_found'],
    ['an unknown one of HLS', hls, { format: 'hls', fileId: 5 }, 'not_found'],
    ['a web video asked for as HLS', [...web, ...hls], { format: 'hls', fileId: 1 }, 'not_found'],
    ['one of HLS asked for as a web video', [...web, ...hls], { format: 'web-videos', fileId: 11 }, 'not_found'],
    ['HLS alone', hls, { format: 'hls' }, 'invalid'],
    ['web videos alone', web, { format: 'web-videos' }, 'invalid'],
    ['the last of HLS alone', [file(11, true, 'both')], { format: 'hls', fileId: 11 }, 'invalid'],
    ['the last web video alone', [file(1, false, 'both')], { format: 'web-videos', fileId: 1 }, 'invalid'],
    ['the last picture', [file(21, true, 'picture'), file(23, true, 'sound')], { format: 'hls', fileId: 21 }, 'invalid'],
    ['the sound of the others', [...web, ...split], { format: 'hls', fileId: 23 }, 'invalid'],
  ])('%s', (_about, files, requested, kind) => {
    expect(refusal(files, requested)).toMatchObject({ name: 'DomainError', kind })
  })
})
