// An archive is not started without enough disk space.

import { describe, expect, it } from '@jest/globals'
import type { Export } from '../../../src/actors/user-archive/export.ts'
import { videos } from '../../../src/actors/user-archive/kinds/videos.ts'

const BYTES = 1000

/** An export of videos of this many bytes, to a disk with this free space. */
const exporting = (room: { free: number; total: number } | undefined, more: Partial<Export> = {}): Export =>
  ({
    withVideoFiles: true,
    user: { channels: [] },
    archivedVideos: new Map(),
    query: async () => [{ count: 2, bytes: BYTES }],
    store: { room: async () => room },
    progress: () => undefined,
    config: () => ({ vireo: { user_data: { export_max_items: null } } }),
    signal: new AbortController().signal,
    ...more,
  }) as unknown as Export

describe('video files', () => {
  it('wait for a disk without enough free space', async () => {
    const full = { free: BYTES - 1, total: 10 * BYTES }
    await expect(videos.export(exporting(full))).rejects.toMatchObject({ reason: 'disk-full' })
    expect(await Array.fromAsync(await videos.export(exporting(full, { withVideoFiles: false })))).toEqual([])
  })

  it('are refused by a disk that is smaller than they are', async () => {
    const small = { free: BYTES - 1, total: BYTES - 1 }
    await expect(videos.export(exporting(small))).rejects.toThrow('larger than the disk')
  })

  it.each([['a disk with room', { free: BYTES, total: BYTES }] as const, ['object storage', undefined] as const])(
    'go to %s',
    async (_where, room) => {
      expect(await Array.fromAsync(await videos.export(exporting(room)))).toEqual([])
    },
  )
})
