// `vireo move-storage`.

import { type Place, places } from '../media/index.ts'
import { collectId, oneOf, type Tools } from './family.ts'
import { operate } from './operate.ts'

export function storageCommands({ program, load, out }: Tools): void {
  program
    .command('move-storage')
    .description(
      'move what is stored to where new files go: jobs of the running server do it, and may be asked for again',
    )
    .requiredOption('--to <place>', places.join(' or '), oneOf(places))
    .option('--video <id>', 'this video alone; may be repeated', collectId, [])
    .action(async ({ to, video }: { to: Place; video: number[] }) => {
      const asked = await operate(load(), (operator) =>
        operator.moveStorage({ to, ...(video.length > 0 ? { videoIds: video } : {}) }),
      )
      const { videos, left } = asked
      const others = video.length > 0 ? '' : ' and of all other files'
      out.answer(asked, [
        `Asked for the move of ${videos} ${videos === 1 ? 'video' : 'videos'}${others}.`,
        ...(left.length === 0
          ? []
          : [
              'Videos whose transcoding failed stay where they are. Transcode or remove them, then ask again:',
              ...left,
            ]),
      ])
    })
}
