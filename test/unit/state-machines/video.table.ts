// Every move of the machine `video`.

import { dueIn, initialVideo, videoMachine } from '../../../src/state-machines/video.ts'
import { defineTable } from './table.ts'

const failed = { error: 'no space' }
const REMOVED = { type: 'REMOVED' } as const
const TIMED_OUT = { type: 'TIMED_OUT' } as const
const before = { renditions: 4, error: 'before' }
const fresh = { renditions: 0, error: null }
const live = { type: 'ADDED', source: 'live', waitTranscoding: false } as const
const upload = (isAwaited: boolean) => ({ type: 'ADDED', source: 'upload', isAwaited, waitTranscoding: true }) as const

export const table = defineTable({
  machine: videoMachine,
  starts: ['none'],
  context: initialVideo.context,
  settings: { check_owner_every: 60_000 },
  dueIn,
  rows: [
    { from: 'none', event: upload(true), to: 'to-transcode', gives: { waitTranscoding: true } },
    { from: 'none', event: upload(false), to: 'published', gives: { waitTranscoding: true } },
    {
      from: 'none',
      event: { type: 'ADDED', source: 'import', waitTranscoding: true },
      to: 'to-import',
      gives: { waitTranscoding: true },
    },
    { from: 'none', event: live, to: 'waiting-for-live' },

    { from: 'to-import', with: before, event: { type: 'IMPORTED', isAwaited: true }, to: 'to-transcode', gives: fresh },
    { from: 'to-import', event: { type: 'IMPORTED', isAwaited: false }, to: 'published' },
    { from: 'to-import', event: REMOVED, to: 'removed' },
    { from: 'to-import', event: TIMED_OUT, to: 'to-import' },

    { from: 'to-transcode', event: { type: 'RENDITION_STORED' }, to: 'published', gives: { renditions: 1 } },
    {
      from: 'to-transcode',
      with: { waitTranscoding: true },
      event: { type: 'RENDITION_STORED' },
      to: 'to-transcode',
      gives: { renditions: 1 },
    },
    { from: 'to-transcode', with: before, event: { type: 'TRANSCODED' }, to: 'published', gives: { error: null } },
    { from: 'to-transcode', event: { type: 'TRANSCODING_FAILED', ...failed }, to: 'transcoding-failed', gives: failed },
    { from: 'to-transcode', with: before, event: { type: 'TRANSCODING_REQUESTED' }, to: 'to-transcode', gives: fresh },
    {
      from: 'to-transcode',
      with: { waitTranscoding: true },
      event: { type: 'WAIT_CHANGED', waitTranscoding: false },
      to: 'to-transcode',
      gives: { waitTranscoding: false },
    },
    { from: 'to-transcode', event: REMOVED, to: 'removed' },
    { from: 'to-transcode', event: TIMED_OUT, to: 'to-transcode' },

    { from: 'published', event: { type: 'RENDITION_STORED' }, to: 'published', gives: { renditions: 1 } },
    { from: 'published', with: before, event: { type: 'TRANSCODED' }, to: 'published', gives: { error: null } },
    { from: 'published', event: { type: 'TRANSCODING_FAILED', ...failed }, to: 'published', gives: failed },
    { from: 'published', with: before, event: { type: 'TRANSCODING_REQUESTED' }, to: 'published', gives: fresh },
    {
      from: 'published',
      with: before,
      event: { type: 'SOURCE_REPLACED', isAwaited: true, waitTranscoding: true },
      to: 'published',
      gives: { ...fresh, waitTranscoding: true },
    },
    {
      from: 'published',
      with: { ...before, waitTranscoding: true },
      event: { type: 'SOURCE_REPLACED', isAwaited: false, waitTranscoding: false },
      to: 'published',
      gives: { ...fresh, waitTranscoding: false },
    },
    { from: 'published', event: { type: 'EDIT_REQUESTED' }, to: 'to-edit' },
    {
      from: 'published',
      event: { type: 'MOVE_REQUESTED', to: 'external-storage' },
      to: 'to-move-to-external-storage',
    },
    { from: 'published', event: { type: 'MOVE_REQUESTED', to: 'file-system' }, to: 'to-move-to-file-system' },
    { from: 'published', event: { type: 'STREAM_ENDED', again: true }, to: 'waiting-for-live' },
    { from: 'published', event: { type: 'STREAM_ENDED', again: false }, to: 'live-ended' },
    { from: 'published', event: REMOVED, to: 'removed' },

    {
      from: 'transcoding-failed',
      with: { ...before, ...failed },
      event: { type: 'SOURCE_REPLACED', isAwaited: true, waitTranscoding: true },
      to: 'to-transcode',
      gives: { ...fresh, waitTranscoding: true },
    },
    {
      from: 'transcoding-failed',
      with: { ...before, ...failed },
      event: { type: 'SOURCE_REPLACED', isAwaited: false, waitTranscoding: false },
      to: 'published',
      gives: fresh,
    },
    {
      from: 'transcoding-failed',
      with: { ...before, ...failed },
      event: { type: 'RETRIED' },
      to: 'to-transcode',
      gives: fresh,
    },
    { from: 'transcoding-failed', event: REMOVED, to: 'removed' },

    { from: 'to-edit', with: before, event: { type: 'EDITED' }, to: 'published', gives: fresh },
    { from: 'to-edit', with: before, event: { type: 'EDIT_FAILED', ...failed }, to: 'published', gives: failed },
    { from: 'to-edit', event: REMOVED, to: 'removed' },
    { from: 'to-edit', event: TIMED_OUT, to: 'to-edit' },

    {
      from: 'to-move-to-external-storage',
      with: before,
      event: { type: 'MOVED' },
      to: 'published',
      gives: { error: null },
    },
    {
      from: 'to-move-to-external-storage',
      event: { type: 'MOVE_FAILED', ...failed },
      to: 'to-move-to-external-storage-failed',
      gives: failed,
    },
    { from: 'to-move-to-external-storage', event: REMOVED, to: 'removed' },
    { from: 'to-move-to-external-storage', event: TIMED_OUT, to: 'to-move-to-external-storage' },
    {
      from: 'to-move-to-external-storage-failed',
      with: failed,
      event: { type: 'RETRIED' },
      to: 'to-move-to-external-storage',
      gives: { error: null },
    },
    {
      from: 'to-move-to-external-storage-failed',
      with: failed,
      event: { type: 'MOVE_REQUESTED', to: 'file-system' },
      to: 'to-move-to-file-system',
      gives: { error: null },
    },
    { from: 'to-move-to-external-storage-failed', event: REMOVED, to: 'removed' },

    { from: 'to-move-to-file-system', with: before, event: { type: 'MOVED' }, to: 'published', gives: { error: null } },
    {
      from: 'to-move-to-file-system',
      event: { type: 'MOVE_FAILED', ...failed },
      to: 'to-move-to-file-system-failed',
      gives: failed,
    },
    { from: 'to-move-to-file-system', event: REMOVED, to: 'removed' },
    { from: 'to-move-to-file-system', event: TIMED_OUT, to: 'to-move-to-file-system' },
    {
      from: 'to-move-to-file-system-failed',
      with: failed,
      event: { type: 'RETRIED' },
      to: 'to-move-to-file-system',
      gives: { error: null },
    },
    {
      from: 'to-move-to-file-system-failed',
      with: failed,
      event: { type: 'MOVE_REQUESTED', to: 'external-storage' },
      to: 'to-move-to-external-storage',
      gives: { error: null },
    },
    { from: 'to-move-to-file-system-failed', event: REMOVED, to: 'removed' },

    { from: 'waiting-for-live', event: { type: 'STREAM_STARTED' }, to: 'published' },
    { from: 'waiting-for-live', event: { type: 'STREAM_ENDED', again: true }, to: 'waiting-for-live' },
    { from: 'waiting-for-live', event: { type: 'STREAM_ENDED', again: false }, to: 'live-ended' },
    { from: 'waiting-for-live', event: REMOVED, to: 'removed' },

    { from: 'live-ended', event: { type: 'REPLAY_SAVED', isAwaited: true }, to: 'to-transcode' },
    {
      from: 'live-ended',
      with: before,
      event: { type: 'REPLAY_SAVED', isAwaited: false },
      to: 'published',
      gives: fresh,
    },
    { from: 'live-ended', event: REMOVED, to: 'removed' },
  ],
  dues: [
    { state: 'none', ms: null },
    { state: 'to-import', ms: 60_000 },
    { state: 'to-transcode', ms: 60_000 },
    { state: 'published', ms: null },
    { state: 'transcoding-failed', ms: null },
    { state: 'to-edit', ms: 60_000 },
    { state: 'to-move-to-external-storage', ms: 60_000 },
    { state: 'to-move-to-external-storage-failed', ms: null },
    { state: 'to-move-to-file-system', ms: 60_000 },
    { state: 'to-move-to-file-system-failed', ms: null },
    { state: 'waiting-for-live', ms: null },
    { state: 'live-ended', ms: null },
    { state: 'removed', ms: null },
  ],
})
