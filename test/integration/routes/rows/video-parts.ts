// Parts of a video: captions, chapters, storyboards, and their files.

import type { RouteFixtures } from '../fixtures.ts'
import { ownerOrStaff, row, visitors } from '../row.ts'

const video =
  (isPrivate: boolean, more: { params?: Record<string, string>; body?: object } = {}) =>
  async (fixtures: RouteFixtures) => ({
    ...more,
    params: { videoId: (await fixtures.videoWithParts({ isPrivate })).uuid, ...more.params },
  })

const file = (part: 'caption' | 'storyboard', isPrivate: boolean) => async (fixtures: RouteFixtures) => ({
  params: { filename: (await fixtures.videoWithParts({ isPrivate }))[part] },
})

const french = { captionLanguage: 'fr' }

function captionForm(): FormData {
  const form = new FormData()
  form.set('captionfile', new File(['WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n'], 'caption.vtt', { type: 'text/vtt' }))
  return form
}

export const videoPartRows = [
  ...['captions', 'chapters', 'storyboards'].flatMap((part) => [
    row(`GET /api/v1/videos/:videoId/${part}`, visitors(200), video(false), 'of a public video'),
    row(`GET /api/v1/videos/:videoId/${part}`, ownerOrStaff(200), video(true), 'of a private video'),
  ]),
  row('PUT /api/v1/videos/:videoId/captions/:captionLanguage', ownerOrStaff(204), (fixtures) =>
    video(false, { params: french, body: captionForm() })(fixtures),
  ),
  row('DELETE /api/v1/videos/:videoId/captions/:captionLanguage', ownerOrStaff(204), video(false, { params: french })),
  // Transcription is not available.
  row('POST /api/v1/videos/:videoId/captions/generate', ownerOrStaff(400), video(false, { body: {} })),
  row(
    'PUT /api/v1/videos/:videoId/chapters',
    ownerOrStaff(204),
    video(false, { body: { chapters: [{ timecode: 3, title: 'A chapter' }] } }),
  ),

  row('GET /lazy-static/video-captions/:filename', visitors(200), file('caption', false), 'of a public video'),
  row('GET /lazy-static/video-captions/:filename', ownerOrStaff(200), file('caption', true), 'of a private video'),
  row('GET /lazy-static/storyboards/:filename', visitors(200), file('storyboard', false), 'of a public video'),
  row('GET /lazy-static/storyboards/:filename', ownerOrStaff(200), file('storyboard', true), 'of a private video'),
]
