// What an archive may ask for over and over, so that few bytes of it do not become many here, or requests to others: items that are over
// such a bound are refused, and the others come in. By the items alone, so that whoever goes on after a crash comes to the same. Pure.

import { posix } from 'node:path'
import { z } from 'zod'
import type { ArchivePart } from '../user-archive/index.ts'

/** Channels that an archive may ask for at one other server, and in all. Each is looked for there, for days if it has to be. */
const MOST_FOLLOWED_OF_HOST = 500
const MOST_FOLLOWED = 5_000

/**
 * Says of the items of a part, one after the other from the first, whether each is too much. Undefined for a part of which there may be
 * any number.
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

/** Of an honest archive no two videos have the same file: each time it is brought in, it takes as much room again. */
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
    return ofHost > MOST_FOLLOWED_OF_HOST || total > MOST_FOLLOWED
  }
}
