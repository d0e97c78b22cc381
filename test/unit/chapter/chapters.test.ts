// Chapters in descriptions and files, and normalisation of chapter lists.

import { describe, expect, it } from '@jest/globals'
import { chaptersOfDescription, chaptersOfFile, MAX_CHAPTERS, tidyChapters } from '../../../src/actors/chapter/chapters.ts'

describe('chapters in a description', () => {
  it('are the lines that start with a time', () => {
    expect(chaptersOfDescription('start\n00:00 chapter 1\n00:01 chapter 2\r\n00:02 - chapter 3\n1:02:03 the end\nat 0:05 no')).toEqual([
      { timecode: 0, title: 'chapter 1' },
      { timecode: 1, title: 'chapter 2' },
      { timecode: 2, title: '- chapter 3' },
      { timecode: 3723, title: 'the end' },
    ])
  })

  it.each([null, '', 'nothing', '00:00', '00:00 ', '1:2 x', '00:00chapter', '12:345 x'])('%j has none', (text) => {
    expect(chaptersOfDescription(text)).toEqual([])
  })

  it('are found in linear time, whatever the text', () => {
    expect(chaptersOfDescription('1:'.repeat(100_000))).toEqual([])
    expect(chaptersOfDescription(`00:00 ${'x'.repeat(100_000)}`)).toEqual([{ timecode: 0, title: 'x'.repeat(100) }])
  })
})

describe('chapters in a file', () => {
  it('are those with a title, to the nearest second', () => {
    expect(
      chaptersOfFile([
        { id: 1, time_base: '1/1000', start: 0, start_time: '0.000000', end_time: '59.999', tags: { title: 'Start' } },
        { start_time: '59.999000', tags: { title: ' Middle ', other: 'x' } },
        { start_time: '70.2', tags: {} },
        { start_time: '80' },
        { start_time: 'soon', tags: { title: 'Soon' } },
        { start_time: '90', tags: { title: 5 } },
        'nothing',
        null,
      ]),
    ).toEqual([
      { timecode: 0, title: 'Start' },
      { timecode: 60, title: 'Middle' },
    ])
  })
})

describe('a chapter list', () => {
  it('is sorted, with one chapter per second', () => {
    expect(
      tidyChapters([
        { timecode: 5.9, title: ' five ' },
        { timecode: 0, title: 'zero' },
        { timecode: 5, title: 'again' },
        { timecode: -1, title: 'before' },
        { timecode: 7, title: '  ' },
        { timecode: 1e12, title: 'late' },
      ]),
    ).toEqual([
      { timecode: 0, title: 'zero' },
      { timecode: 5, title: 'five' },
    ])
  })

  it('contains nothing that the database refuses', () => {
    expect(
      tidyChapters([
        { timecode: 0, title: 'a\0b' },
        { timecode: 1, title: '\0' },
        { timecode: 2, title: 'half a sign \ud83d' },
      ]),
    ).toEqual([
      { timecode: 0, title: 'ab' },
      { timecode: 2, title: 'half a sign \ufffd' },
    ])
  })

  it('is limited', () => {
    const many = Array.from({ length: 2000 }, (_, timecode) => ({ timecode, title: '😀'.repeat(200) }))
    const kept = tidyChapters(many)
    expect(kept).toHaveLength(MAX_CHAPTERS)
    expect([...(kept[0]?.title ?? '')]).toHaveLength(100)
  })
})
