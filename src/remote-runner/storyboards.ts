// Makes the storyboard that a server wants from a runner, as the local worker does.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { makeStoryboard, probe } from '../media/index.ts'
import { downloadsInto, type Make } from './making.ts'

const size = z.object({ width: z.int().min(1).max(1000), height: z.int().min(1).max(1000) })
const payloadOf = z.object({
  input: z.object({ videoFileUrl: z.string() }),
  /** px; sprites in a row and rows; seconds. */
  sprites: z.object({ size, count: size, duration: z.number().positive() }),
})

export const makeStoryboardFile: Make = async (job, reports, making) => {
  const { ffmpeg, limits, folder, signal, progress } = making
  const { input: asked, sprites } = payloadOf.parse(job.payload)
  const { size: sprite, count, duration: spriteDuration } = sprites
  const input = await downloadsInto(reports, making)(asked.videoFileUrl, 'input')
  const made = await makeStoryboard({
    ffmpeg,
    input,
    limits,
    signal,
    probe: await probe({ ffmpeg, path: input, signal }),
    wanted: {
      sprite,
      spriteDuration,
      count: count.width * count.height,
      columns: count.width,
      rows: count.height,
      keyFramesOnly: spriteDuration > 1,
    },
    workFolder: join(folder, 'work'),
    onProgress: progress,
  })
  if (!made) throw new Error('The video shows nothing.')
  const storyboardFile = join(folder, 'storyboard.jpg')
  await writeFile(storyboardFile, made.bytes)
  return { storyboardFile }
}
