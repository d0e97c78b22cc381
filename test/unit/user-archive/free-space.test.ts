// An archive is not begun where there is no room for it.

import { describe, expect, it } from '@jest/globals'
import type { Export } from '../../../src/actors/user-archive/export.ts'
import { videos } from '../../../src/actors/user-archive/kinds/videos.ts'

const BYTES = 1000

/** An export of videos that take so many bytes, to a disk with this room. */
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

describe('the files of videos', () => {
  it('wait for a disk that has no room for them now', async () => {
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
