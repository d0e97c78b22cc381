// The file of a video in an archive, also when it is replaced or removed meanwhile.

import { describe, expect, it } from '@jest/globals'
import type { ArchiveWriter } from '../../../src/actors/user-archive/archive-writer.ts'
import type { Export } from '../../../src/actors/user-archive/export.ts'
import type { VideoFileRow, VideoRow } from '../../../src/actors/user-archive/kinds/stored-videos.ts'
import { videoChoices, writeVideoFiles } from '../../../src/actors/user-archive/kinds/video-files.ts'
import type { FileRef } from '../../../src/media/index.ts'

const uuid = '8d5a1fff-9481-431f-bfc2-3949347a753a'

const file = (more: Partial<VideoFileRow>): VideoFileRow => ({
  filename: `${more.hls ? 'hls' : 'web'}-${more.resolution}.mp4`,
  extname: '.mp4',
  hls: false,
  resolution: 720,
  height: null,
  size: 10,
  fps: 25,
  storage: 0,
  torrent: null,
  hasVideo: true,
  hasAudio: true,
  ...more,
})

const source = {
  inputFilename: 'mine.mkv',
  resolution: 1080,
  size: 9,
  width: null,
  height: 1080,
  fps: 50,
  metadata: null,
}

const video = (more: Partial<VideoRow>): VideoRow =>
  ({
    key: 7,
    uuid,
    privacy: 1,
    blocked: false,
    files: [],
    source: null,
    captions: [],
    pictures: [],
    ...more,
  }) as VideoRow

const namesOf = (row: VideoRow): unknown[] =>
  videoChoices(row).map((choice) => {
    const first = (refs: FileRef[]) => refs[0]?.name
    return 'picture' in choice ? [first(choice.picture), first(choice.sound)] : first(choice.refs)
  })

describe('the selection', () => {
  const web = [file({ resolution: 720 }), file({ resolution: 240 }), file({ resolution: 0, hasVideo: false })]
  const hls = [file({ hls: true, resolution: 1080 }), file({ hls: true, resolution: 720 })]

  it('is the original, else the best web video, else the best rendition', () => {
    expect(namesOf(video({ files: [...hls, ...web], source: { ...source, keptFilename: 'kept.mkv' } }))).toEqual([
      'kept.mkv',
      'web-720.mp4',
      `hls/${uuid}/hls-1080.mp4`,
    ])
    expect(namesOf(video({ files: hls, source: { ...source, keptFilename: null } }))).toEqual([`hls/${uuid}/hls-1080.mp4`])
  })

  it('combines a video-only rendition with its audio', () => {
    const split = [
      file({ hls: true, resolution: 720, hasAudio: false }),
      file({ hls: true, resolution: 0, hasVideo: false, filename: 'sound.mp4' }),
    ]
    expect(namesOf(video({ privacy: 3, files: split }))).toEqual([[`hls/private/${uuid}/hls-720.mp4`, `hls/private/${uuid}/sound.mp4`]])
    expect(namesOf(video({ files: split.slice(0, 1) }))).toEqual([`hls/${uuid}/hls-720.mp4`])
    expect(namesOf(video({ files: split.slice(1) }))).toEqual([`hls/${uuid}/sound.mp4`])
  })

  it('is empty for a video without files', () => expect(videoChoices(video({}))).toEqual([]))
})

describe('a file', () => {
  /** An export with these files in its store; `rows`: the video at each later query. */
  function exporting(there: string[], rows: VideoRow[]): Export {
    const writer: Pick<ArchiveWriter, 'file'> = {
      file: async (name, refs) => (refs.some((ref) => there.includes(ref.name)) ? { path: `../${name}`, size: 10 } : null),
    }
    return {
      writer,
      withVideoFiles: true,
      query: async () => rows.splice(0, 1),
    } as unknown as Export
  }
  const kept = video({ source: { ...source, keptFilename: 'kept.mkv' } })
  const transcoded = video({ files: [file({ resolution: 240 })] })

  it('that was replaced meanwhile is selected again', async () => {
    const written = await writeVideoFiles(exporting(['web-240.mp4'], [transcoded]), kept)
    expect(written?.videoFile).toEqual({
      path: `../files/videos/video-files/${uuid}.mp4`,
      mediaType: 'video/mp4',
      height: 240,
      size: 10,
      fps: 25,
    })
  })

  it('of a video that was removed meanwhile is left out with it', async () => {
    expect(await writeVideoFiles(exporting([], []), kept)).toBeUndefined()
  })

  it('that is lost is missing, and nothing else is', async () => {
    const row = video({
      ...kept,
      captions: [{ language: 'en', filename: 'a-en.vtt', automatic: false, createdAt: '', updatedAt: '' }],
      pictures: [
        { type: 1, filename: 'small.jpg' },
        { type: 2, filename: 'large.jpg' },
      ],
    })
    expect(await writeVideoFiles(exporting(['small.jpg', 'a-en.vtt'], [row, row, row]), row)).toEqual({
      videoFile: null,
      thumbnail: `../files/videos/thumbnails/${uuid}.jpg`,
      captions: { en: `../files/videos/captions/${uuid}-en.vtt` },
    })
  })
})
