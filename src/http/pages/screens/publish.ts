// Screens that make videos: uploads, imports, lives.

import { t } from '../../../platform/language.ts'
import { textAt } from './api.ts'
import { form, list, type Screen, screen } from './parts.ts'
import { channelsOf, is, isNot, liveFields, ME, newVideoFields, shortened, state, videoLink } from './words.ts'

const toVideo = (answer: unknown): string => `/my-library/videos/${textAt(answer, 'video.shortUUID')}`
/** Pending and processing. */
const BUSY_IMPORTS = [1, 5]

export const publishScreens: readonly Screen[] = [
  screen('/videos/upload', t('Upload'), { reads: { me: ME } }, [
    form('upload', 'POST /api/v1/videos/upload', {
      files: true,
      pieces: () => '/videos/upload/pieces',
      text: t(
        'A video is processed after its upload. Chapters, captions, a schedule and everything else can be set on its page as soon as it has arrived.',
      ),
      fields: (shown) => ({
        ...newVideoFields(shown),
        videofile: { label: t('Video'), as: 'file', accept: 'video/*,audio/*', required: true },
      }),
      initial: () => ({ privacy: 1 }),
      button: t('Upload'),
      leadsTo: toVideo,
    }),
  ]),
  screen('/videos/import', t('Import'), { reads: { me: ME } }, [
    form('import', 'POST /api/v1/videos/imports', {
      title: t('From another site'),
      fields: (shown) => ({
        targetUrl: { label: t('Address of a video'), help: t('A page of another video site, or a media file.') },
        magnetUri: t('Magnet address'),
        ...newVideoFields(shown),
      }),
      initial: () => ({ privacy: 1 }),
      button: t('Import'),
      said: t('The import has begun.'),
    }),
    form('torrent', 'POST /api/v1/videos/imports', {
      title: t('From a torrent file'),
      files: true,
      fields: (shown) => ({
        channelId: { label: t('Channel'), choices: channelsOf(shown) },
        torrentfile: { label: t('Torrent'), as: 'file', accept: '.torrent,application/x-bittorrent' },
      }),
      button: t('Import the torrent'),
      said: t('The import has begun.'),
    }),
    list('imports', 'GET /api/v1/users/me/videos/imports', {
      title: t('Your imports'),
      columns: {
        Video: videoLink('video.', (id) => `/my-library/videos/${id}`),
        Source: shortened('targetUrl', 'torrentName', 'magnetUri'),
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
  screen('/videos/go-live', t('Go live'), { reads: { me: ME } }, [
    form('live', 'POST /api/v1/videos/live', {
      fields: (shown) => ({ ...newVideoFields(shown), ...liveFields }),
      initial: () => ({ privacy: 1, latencyMode: 1 }),
      button: t('Make the live'),
      leadsTo: toVideo,
    }),
  ]),
]
