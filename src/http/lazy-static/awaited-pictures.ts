// Pictures that are not drawn yet: a request waits a while until the picture exists. If its job does not run soon, because many wait or
// jobs are paused, the request triggers the drawing.

import { setTimeout as pause } from 'node:timers/promises'
import pLimit from 'p-limit'
import { type DrawPictures, findAwaitedPictures } from '../../actors/video/index.ts'
import { batched } from '../../platform/batched.ts'
import type { Database } from '../../platform/database/index.ts'
import type { Logger } from '../../platform/logger.ts'

const LONGEST_WAIT_MS = 30_000
const PATIENCE_MS = 2_000
const LOOK_EVERY_MS = 100
/** Pictures per statement. */
const LOOKED_AT_ONCE = 500
/** Videos. */
const DRAWN_AT_ONCE = 2

export interface AwaitedPicture {
  filename: string
  videoId: number
}

/** True if the picture was drawn or removed in time. Concurrent requests for the same picture are merged, and all share one statement. */
export function makeAwaitPicture(
  deps: DrawPictures & { db: Pick<Database, 'query'>; logger: Logger },
): (picture: AwaitedPicture) => Promise<boolean> {
  const { db, logger, drawPictures } = deps
  const inTurn = pLimit(DRAWN_AT_ONCE)
  const drawing = new Map<number, Promise<void>>()
  const waiting = new Map<string, Promise<boolean>>()
  const isAwaited = batched<string, boolean>(
    async (names) => {
      const awaited = new Set(await findAwaitedPictures(db, names))
      return names.map((name) => awaited.has(name))
    },
    { max: LOOKED_AT_ONCE },
  )

  function draw(videoId: number): void {
    if (drawing.has(videoId)) return
    const drawn = inTurn(() => drawPictures(videoId, AbortSignal.timeout(LONGEST_WAIT_MS)))
      .catch((error: unknown) => logger.warn({ err: error, video: videoId }, 'a requested picture was not drawn'))
      .finally(() => drawing.delete(videoId))
    drawing.set(videoId, drawn)
  }

  async function wait({ filename, videoId }: AwaitedPicture): Promise<boolean> {
    const begun = performance.now()
    let waited = 0
    for (let isAsked = false; waited < LONGEST_WAIT_MS; waited = performance.now() - begun) {
      await pause(LOOK_EVERY_MS)
      if (!(await isAwaited(filename))) return true
      if (isAsked || waited < PATIENCE_MS) continue
      isAsked = true
      draw(videoId)
    }
    return false
  }

  return (picture) => {
    const { filename } = picture
    const drawn = waiting.get(filename) ?? wait(picture).finally(() => waiting.delete(filename))
    waiting.set(filename, drawn)
    return drawn
  }
}
