// Limits on what an archive may contain, so that a few bytes of it cannot cause many bytes here or many requests to others. Items over a
// limit are refused, and the others are imported. The items alone decide, so that a resumed import decides the same. Pure.

import { posix } from 'node:path'
import { z } from 'zod'
import type { ArchivePart } from '../user-archive/index.ts'

/** Channels that an archive may follow per remote server, and in all. Each is looked up on its server, for days if necessary. */
const MAX_FOLLOWED_OF_HOST = 500
const MAX_FOLLOWED = 5_000

/**
 * Returns a function that is called with each item of a part, in order, and returns true if the item exceeds the limit. Undefined for a
 * part without a limit.
 */
export const makeBound = (part: ArchivePart): ((item: unknown) => boolean) | undefined => BOUNDS[part]?.()

const BOUNDS: { [P in ArchivePart]?: () => (item: unknown) => boolean } = {
  videos: makeRefuseSharedFiles,
  following: makeRefuseTooManyFollowed,
}

const video = z.object({
  archiveFiles: z.object({
    videoFile: z.string().nullish().catch(null),
    captions: z.record(z.string(), z.string()).optional().catch({}),
  }),
})

/** In a valid archive no two videos share a file: each import of it takes the same space again. */
function makeRefuseSharedFiles(): (item: unknown) => boolean {
  const taken = new Set<string>()
  return (item) => {
    const { data } = video.safeParse(item)
    if (!data) return false
    const { videoFile, captions = {} } = data.archiveFiles
    const names = [...(videoFile ? [videoFile] : []), ...Object.values(captions)].map((name) => posix.normalize(name))
    const isShared = new Set(names).size < names.length || names.some((name) => taken.has(name))
    for (const name of names) taken.add(name)
    return isShared
  }
}

const followed = z.object({ targetHandle: z.string() })

function makeRefuseTooManyFollowed(): (item: unknown) => boolean {
  const byHost = new Map<string, number>()
  let total = 0
  return (item) => {
    const { data } = followed.safeParse(item)
    if (!data) return false
    const host = data.targetHandle.split('@').at(-1)?.toLowerCase() ?? ''
    const ofHost = (byHost.get(host) ?? 0) + 1
    byHost.set(host, ofHost)
    total += 1
    return ofHost > MAX_FOLLOWED_OF_HOST || total > MAX_FOLLOWED
  }
}
