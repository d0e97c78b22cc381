// `vireo regenerate-thumbnails`.

import { collectId, type Tools } from './family.ts'
import { operate } from './operate.ts'

export function thumbnailCommands({ program, load, out, exitWith }: Tools): void {
  program
    .command('regenerate-thumbnails')
    .description('draw the pictures of the videos of this server anew, and tell others; goes on where it was ended')
    .option('--video <id>', 'this video alone; may be repeated', collectId, [])
    .option('--force', 'in the place of pictures that users gave, too')
    .action(async ({ video, force = false }: { video: number[]; force?: boolean }) => {
      const progress = out.progress('Videos')
      const done = await operate(load(), (operator) =>
        operator.redrawPictures({ force, onProgress: progress.at, ...(video.length > 0 ? { videoIds: video } : {}) }),
      ).finally(progress.end)
      if (done.failed.length > 0) exitWith(1)
      out.answer(done, [
        `The pictures of ${done.redrawn} videos were drawn again; ${done.skipped} have none to draw.`,
        ...done.failed.map(({ uuid, reason }) => `${uuid}: ${reason}`),
      ])
    })
}
