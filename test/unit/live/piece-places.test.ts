// Places of a runner's segments, in both ways of counting.

import { expect, it } from '@jest/globals'
import { hasPlace, placeOf } from '../../../src/actors/live/piece-places.ts'
import type { MediaProbe } from '../../../src/media/index.ts'

const audio = { codec: 'aac' } as NonNullable<MediaProbe['audio']>
const sound = { audio, video: undefined }
const picture = (width: number, height: number, withSound: boolean) => ({ audio: withSound ? audio : undefined, video: { width, height } })
const joined = (width: number, height: number) => picture(width, height, true)
const alone = (width: number, height: number) => picture(width, height, false)

it.each([
  ['a picture with its sound', [240, 144], 1, joined(256, 144), true, { rendition: 2, resolution: 144, isSplit: false }],
  ['the last stream, of sound', [240, 144, 0], 2, sound, true, { rendition: 3, resolution: 0, isSplit: false }],
  ['sound before the pictures, where the job wants it', [240, 144, 0], 0, sound, true, { rendition: 3, resolution: 0, isSplit: true }],
  ['sound before the pictures, where it does not', [240, 144], 0, sound, true, { rendition: 3, resolution: 0, isSplit: true }],
  ['the first picture after the sound', [240, 144], 1, alone(426, 240), true, { rendition: 1, resolution: 240, isSplit: true }],
  ['the last picture after the sound', [240, 144, 0], 2, alone(256, 144), true, { rendition: 2, resolution: 144, isSplit: true }],
  ['a picture of a stream without sound', [240, 144], 1, alone(256, 144), false, { rendition: 2, resolution: 144, isSplit: false }],
  ['a picture whose sound fails', [240, 144], 1, alone(256, 144), true, { rendition: 2, resolution: 144, isSplit: false }],
  ['an upright picture scaled to its height', [480, 360], 1, alone(270, 480), true, { rendition: 1, resolution: 480, isSplit: true }],
  [
    'an upright picture that both ways explain',
    [1440, 1080],
    1,
    joined(1080, 1440),
    true,
    { rendition: 2, resolution: 1080, isSplit: false },
  ],
  ['the same without its sound', [1440, 1080], 1, alone(1080, 1440), true, { rendition: 1, resolution: 1440, isSplit: true }],
  ['a picture of no wanted size', [240, 144], 1, alone(640, 480), true, { rendition: 1, resolution: 240, isSplit: true }],
  ['a picture where sound was wanted', [240, 144, 0], 2, joined(192, 144), true, { rendition: 3, resolution: 0, isSplit: false }],
  ['a picture that has lost its stream', [240, 144], 1, sound, true, undefined],
  ['a picture with sound behind the last index', [240, 144], 2, joined(192, 144), true, undefined],
] as const)('is found for %s', (_, wanted, index, made, hasSound, place) => {
  expect(placeOf({ wanted, index, made, hasSound })).toEqual(place)
})

it('exists for as many names as the longer way of counting needs', () => {
  expect([0, 1, 2, 3].map((index) => hasPlace(index, [240, 144]))).toEqual([true, true, true, false])
  expect([2, 3].map((index) => hasPlace(index, [240, 144, 0]))).toEqual([true, false])
})
