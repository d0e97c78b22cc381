// Screens that make videos: uploads, imports, lives.

import type { Config } from '../../../config/index.ts'
import { t } from '../../../platform/language.ts'
import { textAt } from './api.ts'
import { form, list, type Screen, type Shown, screen } from './parts.ts'
import { captionFields, chapterLines, chapterRules, is, isNot, liveFields, ME, state, videoBody, videoFields, videoLink } from './words.ts'

const toVideo = (answer: unknown): string => `/my-library/videos/${textAt(answer, 'video.shortUUID')}`
const initial = ({ tools }: Shown) => {
  const { privacy, licence, comments_policy: commentsPolicy, download_enabled: downloadEnabled } = tools.config().defaults.publish
  return { privacy, licence, commentsPolicy, downloadEnabled }
}
const takesNothing = ({ import: { videos } }: Config): boolean => !videos.http.enabled && !videos.torrent.enabled
const ADDRESS = { targetUrl: { label: t('Address of a video'), help: t('A page of another video site, or a media file.') } }
const TORRENT = { torrentfile: { label: t('Torrent'), as: 'file', accept: '.torrent,application/x-bittorrent' } } as const
/** Pending and processing. */
const BUSY_IMPORTS = [1, 5]

export const publishScreens: readonly Screen[] = [
  screen('/videos/upload', t('Upload'), { reads: { me: ME } }, [
    form('upload', 'POST /api/v1/videos/upload', {
      files: true,
      pieces: 'POST /api/v1/videos/upload-resumable',
      text: t('A video is processed after its upload. All of this can be changed on its page as soon as it has arrived.'),
      fields: (shown) => ({
        ...videoFields(shown),
        chapters: { ...chapterLines.fields.chapters, label: t('Chapters'), isRare: true },
        ...captionFields({ isRare: true, isScripted: true, group: t('Captions') }),
        videofile: { label: t('Video'), as: 'file', accept: 'video/*,audio/*', required: true },
      }),
      initial,
      body: videoBody,
      rules: chapterRules,
      button: t('Upload'),
      follow: (answer, text, shown) => {
        const chapters = chapterLines.changed(text, shown)
        const values = { videoId: textAt(answer, 'video.uuid') }
        return chapters.length > 0 ? { operation: 'PUT /api/v1/videos/:videoId/chapters', values, body: { chapters } } : undefined
      },
      leadsTo: toVideo,
    }),
  ]),
  screen('/videos/import', t('Import'), { reads: { me: ME }, isOff: takesNothing }, [
    form('import', 'POST /api/v1/videos/imports', {
      title: t('From another site'),
      files: true,
      fields: (shown) => {
        const { http, torrent } = shown.tools.config().import.videos
        return {
          ...(http.enabled ? ADDRESS : {}),
          ...(torrent.enabled ? { magnetUri: t('Magnet address') } : {}),
          ...videoFields(shown),
          ...(torrent.enabled ? TORRENT : {}),
        }
      },
      initial,
      body: videoBody,
      button: t('Import'),
      said: t('The import has begun.'),
    }),
    list('imports', 'GET /api/v1/users/me/videos/imports', {
      title: t('Your imports'),
      columns: {
        Video: videoLink('video.', (id) => `/my-library/videos/${id}`),
        Source: (row) => textAt(row, 'targetUrl') || textAt(row, 'torrentName') || textAt(row, 'magnetUri'),
        State: state('state', BUSY_IMPORTS),
        Problem: 'error',
        Begun: 'createdAt',
      },
      actions: {
        cancel: { label: t('Cancel'), operation: 'POST /api/v1/videos/imports/:id/cancel', when: is('state.id', 1) },
        retry: { label: t('Try again'), operation: 'POST /api/v1/videos/imports/:id/retry', when: is('state.id', 3) },
        remove: { label: t('Remove'), operation: 'DELETE /api/v1/videos/imports/:id', when: isNot('state.id', ...BUSY_IMPORTS) },
      },
      empty: t('No imports yet.'),
    }),
  ]),
  screen('/videos/go-live', t('Go live'), { reads: { me: ME }, isOff: ({ live }) => !live.enabled }, [
    form('live', 'POST /api/v1/videos/live', {
      fields: (shown) => ({ ...videoFields(shown), ...liveFields }),
      initial: (shown) => ({ ...initial(shown), latencyMode: 1 }),
      body: videoBody,
      button: t('Make the live'),
      leadsTo: toVideo,
    }),
  ]),
]
