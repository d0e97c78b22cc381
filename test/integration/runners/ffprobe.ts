// The server's ffprobe, which a test can delay or kill.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ffmpeg } from '../../../src/media/index.ts'
import { serverFfmpeg } from '../../support/media.ts'

export interface SwitchedFfprobe {
  ffmpeg: Ffmpeg
  /** Runs `work` while ffprobe misbehaves. */
  during<T>(work: () => Promise<T>): Promise<T>
  remove(): Promise<void>
}

const INSTEAD = { waits: 'while [ -e "$0.off" ]; do sleep 0.05; done', dies: '[ ! -e "$0.off" ] || kill -9 $$' }

export async function switchedFfprobe(off: keyof typeof INSTEAD): Promise<SwitchedFfprobe> {
  const ffmpeg = await serverFfmpeg()
  const folder = await mkdtemp(join(tmpdir(), 'vireo-ffprobe-'))
  const ffprobePath = join(folder, 'ffprobe')
  await writeFile(ffprobePath, `#!/bin/sh\n${INSTEAD[off]}\nexec "${ffmpeg.ffprobePath}" "$@"\n`, { mode: 0o755 })
  return {
    ffmpeg: { ...ffmpeg, ffprobePath },
    async during(work) {
      await writeFile(`${ffprobePath}.off`, '')
      try {
        return await work()
      } finally {
        await rm(`${ffprobePath}.off`)
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
