import { expect, test } from '@jest/globals'
// Checked by tsc: a type that differs is an error of `npm run check`.

import type { User, UserRole } from '../../../src/actors/user/user.entity.ts'
import type { StreamingPlaylist } from '../../../src/actors/video/files.entity.ts'
import type { Video } from '../../../src/actors/video/video.entity.ts'
import type { Aliased, Columns, InJson, Nullable } from '../../../src/platform/database/index.ts'

/** `true` if both types are identical. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

test('rows have the types of the columns that their entities describe', () => {
  const checks: [
    Same<
      Columns<Video, 'id' | 'urlHash' | 'filesSize' | 'trackerUrls' | 'refreshTriedAt' | 'hasHls' | 'createdAt'>,
      {
        id: number
        url_hash: string | null
        files_size: number
        tracker_urls: string[]
        refresh_tried_at: Date | null
        has_hls: boolean
        created_at: Date
      }
    >,
    Same<Columns<User, 'p2pEnabled' | 'role' | 'blocked'>, { p2p_enabled: boolean; role: UserRole; blocked: boolean }>,
    Same<Columns<typeof StreamingPlaylist, 'segmentsSha256Url'>, { segments_sha256_url: string | null }>,
    Same<Aliased<Video, 'channelId' | 'language'>, { channelId: number; language: string | null }>,
    Same<Nullable<Columns<Video, 'isLive' | 'dueAt'>>, { is_live: boolean | null; due_at: Date | null }>,
    Same<InJson<Columns<Video, 'isLive' | 'createdAt' | 'dueAt'>>, { is_live: boolean; created_at: string; due_at: string | null }>,
  ] = [true, true, true, true, true, true]
  // @ts-expect-error The entity has no such property.
  const unknown: Columns<Video, 'channel_id'> = {}
  expect([checks.length, unknown]).toEqual([6, {}])
})
