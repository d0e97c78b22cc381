// Makes the edited file that a server wants from a runner, as the local worker does.

import { join } from 'node:path'
import { z } from 'zod'
import { type EditTask, editVideo } from '../media/index.ts'
import { downloadsInto, type Make } from './making.ts'

const payloadOf = z.object({
  input: z.object({ videoFileUrl: z.string(), separatedAudioFileUrl: z.array(z.string()).default([]) }),
  tasks: z.array(
    z.discriminatedUnion('name', [
      z.object({ name: z.literal('cut'), options: z.object({ start: z.number().optional(), end: z.number().optional() }) }),
      z.object({ name: z.enum(['add-intro', 'add-outro', 'add-watermark']), options: z.object({ file: z.string() }) }),
    ]),
  ),
})

const MAX_FPS = 60

export const makeEdition: Make = async (job, reports, making) => {
  const { ffmpeg, limits, threads, folder, signal, progress } = making
  const inFolder = downloadsInto(reports, making)
  const { input, tasks: wanted } = payloadOf.parse(job.payload)
  const picture = await inFolder(input.videoFileUrl, 'input')
  const [soundUrl] = input.separatedAudioFileUrl
  const sound = soundUrl ? await inFolder(soundUrl, 'sound') : picture
  const tasks: EditTask[] = []
  for (const [index, task] of wanted.entries()) {
    const { name } = task
    tasks.push(name === 'cut' ? { name, ...task.options } : { name, path: await inFolder(task.options.file, `task-${index}`) })
  }
  const { path } = await editVideo({
    ffmpeg,
    picture,
    sound,
    tasks,
    maxFps: MAX_FPS,
    threads,
    limits,
    signal,
    workFolder: join(folder, 'work'),
    onProgress: progress,
  })
  return { videoFile: path }
}
