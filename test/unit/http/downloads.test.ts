// Downloads: file names, the files of a generated download, and disconnected clients.

import { describe, expect, it } from '@jest/globals'
import type { StoredFileRow } from '../../../src/actors/video/index.ts'
import { attachment, readDownloadName, savedName } from '../../../src/http/downloads/file-names.ts'
import { extensionOf, planDownload } from '../../../src/http/downloads/generate.ts'
import { makeMuxes } from '../../../src/http/downloads/mux.ts'
import { MediaError, type Store } from '../../../src/media/index.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { testConfig } from '../../support/config.ts'
import { serverFfmpeg } from '../../support/media.ts'

const uuid = '824de502-1aad-49c2-b106-a9de267a8a72'

describe('the URL of a download', () => {
  it('names a video, a resolution and the container format', () => {
    expect(readDownloadName(`${uuid}-240.mp4`, { hls: false })).toEqual({ uuid, resolution: 240, extname: '.mp4' })
    expect(readDownloadName(`${uuid.toUpperCase()}-0.webm`, { hls: false })).toEqual({
      uuid,
      resolution: 0,
      extname: '.webm',
    })
    expect(readDownloadName(`${uuid}-1080-fragmented.mp4`, { hls: true })).toEqual({
      uuid,
      resolution: 1080,
      extname: '.mp4',
    })
  })

  it.each(['unknown.mp4', `${uuid}.mp4`, `${uuid}-.mp4`, `${uuid}-240`, `${uuid}-240.mp4/`, `x${uuid}-240.mp4`, ''])(
    'is not %s',
    (name) => {
      expect(readDownloadName(name, { hls: false })).toBeUndefined()
      expect(readDownloadName(name, { hls: true })).toBeUndefined()
    },
  )

  it('is different for HLS files', () => {
    expect(readDownloadName(`${uuid}-240.mp4`, { hls: true })).toBeUndefined()
    expect(readDownloadName(`${uuid}-240-fragmented.mp4`, { hls: false })).toBeUndefined()
  })
})

describe('the file name of a download', () => {
  const named = (video: string, hls = false) => attachment(savedName({ video, resolution: 240, hls }, '.mp4'))

  it('is that of the video, as recorded', () => {
    expect(named('static v1')).toBe('attachment; filename="static v1-240p.mp4"')
    expect(named('hls v1', true)).toBe('attachment; filename="hls v1-240p-hls.mp4"')
  })

  it('keeps letters of any script', () => {
    expect(named('Été 100 %')).toBe(`attachment; filename="_t_ 100 _-240p.mp4"; filename*=UTF-8''%C3%89t%C3%A9%20100%20%25-240p.mp4`)
    expect(named("l'eau (1)*")).toBe(`attachment; filename="l'eau (1)_-240p.mp4"`)
  })

  it.each([
    ['a"b\r\nSet-Cookie: x=1', 'attachment; filename="a_bSet-Cookie_ x=1-240p.mp4"'],
    ['../../etc/passwd', 'attachment; filename="_.._etc_passwd-240p.mp4"'],
    ['C:\\a', 'attachment; filename="C__a-240p.mp4"'],
    ['photo\u202e4pm', 'attachment; filename="photo4pm-240p.mp4"'],
    ['\ud800lone', 'attachment; filename="_lone-240p.mp4"; filename*=UTF-8\'\'%EF%BF%BDlone-240p.mp4'],
    ['', 'attachment; filename="-240p.mp4"'],
  ])('of %j contains no path and adds no header', (video, expected) => {
    expect(named(video)).toBe(expected)
  })

  it('is shortened in the middle when it is long', () => {
    const name = /filename="([^"]*)"/.exec(named('a'.repeat(500), true))?.[1] ?? ''
    expect(name).toHaveLength(180)
    expect(name).toMatch(/^a+-240p-hls\.mp4$/)
    expect(attachment('..')).toBe('attachment; filename="file"')
  })
})

describe('a generated download', () => {
  const file = (id: number, resolution: number, streams: 'both' | 'picture' | 'sound', extname = '.mp4') =>
    ({
      id,
      resolution,
      extname,
      filename: `${id}${extname}`,
      hls: true,
      hasVideo: streams !== 'sound',
      hasAudio: streams !== 'picture',
    }) satisfies StoredFileRow
  const [hd, sd] = [file(1, 1080, 'picture'), file(2, 240, 'picture')]
  const [sound, whole, small] = [file(3, 0, 'sound'), file(4, 720, 'both'), file(5, 240, 'both')]

  it.each([
    ['a picture with its sound', [sound, hd], { picture: hd, sound }, '.mp4'],
    ['one file as it is', [whole], { file: whole }, '.mp4'],
    ['a picture alone', [sd], { file: sd }, '.mp4'],
    ['sound alone', [sound], { file: sound }, '.m4a'],
    ['another container as it is', [file(6, 240, 'both', '.webm')], { file: file(6, 240, 'both', '.webm') }, '.webm'],
    ['the sound that was asked for', [whole, sound], { picture: whole, sound }, '.mp4'],
  ])('is %s', (_what, files, expected, ending) => {
    const plan = planDownload(files)
    expect(plan).toEqual(expected)
    expect(plan && extensionOf(plan)).toBe(ending)
  })

  it.each([
    ['two pictures', [sd, hd]],
    ['two whole files', [small, whole]],
    ['a picture and a whole file', [small, hd]],
    ['two sounds', [sound, file(7, 0, 'sound')]],
  ])('is refused for %s', (_what, files) => {
    expect(() => planDownload(files)).toThrow(
      expect.objectContaining({ kind: 'invalid', invalidParams: [expect.objectContaining({ name: 'videoFileIds' })] }),
    )
  })

  it('is undefined without files', () => {
    expect(planDownload([])).toBeUndefined()
  })
})

describe('a generated download whose source files are slow', () => {
  it.each(['file-system', 'object-storage'] as const)(
    'gives its place free, and fetches no more, when its client leaves (%s)',
    async (place) => {
      const fetched: string[] = []
      // Endless, like slow storage.
      const never = (name: string, signal: AbortSignal | undefined) =>
        new Promise<never>((_resolve, reject) => {
          fetched.push(name)
          signal?.addEventListener('abort', () => reject(new MediaError('aborted', 'Given up.')))
        })
      const store: Pick<Store, 'open' | 'placeOf' | 'withLocalPath'> = {
        placeOf: async () => place,
        open: ({ name }, _range, signal) => never(name, signal),
        withLocalPath: ({ name }, _work, signal) => never(name, signal),
      }
      const config = testConfig({ vireo: { delivery: { muxes: 1 } } })
      const openMux = makeMuxes({ store, ffmpeg: await serverFfmpeg(), config: () => config, logger: silentLogger })
      const files = { picture: { kind: 'web_videos', name: 'p' }, sound: { kind: 'web_videos', name: 's' } } as const
      for (let time = 0; time < 2; time += 1) {
        const leaving = new AbortController()
        const opening = openMux(files, leaving.signal)
        await expect(openMux(files, leaving.signal)).rejects.toMatchObject({ kind: 'busy' })
        leaving.abort()
        await expect(opening).rejects.toMatchObject({ kind: 'unavailable' })
      }
      expect(fetched).toEqual(['p', 'p'])
    },
  )
})
