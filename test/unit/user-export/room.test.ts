// An archive is not begun where there is no room for it.

import { describe, expect, it } from '@jest/globals'
import type { Export } from '../../../src/actors/user-export/export.ts'
import { writeVideos } from '../../../src/actors/user-export/parts/videos.ts'

const BYTES = 1000

/** An export of videos that take so many bytes, to a disk with this room. */
const exporting = (room: { free: number; total: number } | undefined, more: Partial<Export> = {}): Export =>
  ({
    withVideoFiles: true,
    user: { channels: [] },
    writer: { list: async () => undefined },
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
    await expect(writeVideos(exporting(full))).rejects.toMatchObject({ reason: 'disk-full' })
    expect((await writeVideos(exporting(full, { withVideoFiles: false }))).size).toBe(0)
  })

  it('are refused by a disk that is smaller than they are', async () => {
    const small = { free: BYTES - 1, total: BYTES - 1 }
    await expect(writeVideos(exporting(small))).rejects.toThrow('larger than the disk')
  })

  it.each([['a disk with room', { free: BYTES, total: BYTES }] as const, ['object storage', undefined] as const])(
    'go to %s',
    async (_where, room) => {
      expect((await writeVideos(exporting(room))).size).toBe(0)
    },
  )
})
