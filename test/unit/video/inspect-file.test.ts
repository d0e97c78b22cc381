// The pictures of files that arrive together.

import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { DRAWN_AT_ONCE, makeInspectFile } from '../../../src/actors/video/inspect-file.ts'
import type { Ffmpeg } from '../../../src/media/index.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { testConfig } from '../../support/config.ts'
import { media, temporaryFolder, testFfmpeg } from '../../support/media.ts'
import { makeTestStore } from '../../support/test-store.ts'

const nothing = async (): Promise<void> => {}

/** Notes when it begins and ends; the first ones wait for each other. */
async function noting(folder: string): Promise<{ ffmpeg: Ffmpeg; most: () => Promise<number> }> {
  const real = await testFfmpeg()
  const [path, notes] = [join(folder, 'ffmpeg'), join(folder, 'notes')]
  const script = `#!/bin/sh
echo 1 >> "${notes}"
while [ "$(grep -c '^1' "${notes}")" -lt ${DRAWN_AT_ONCE} ]; do sleep 0.01; done
"${real.ffmpegPath}" "$@"
echo -1 >> "${notes}"
`
  await writeFile(path, script)
  await chmod(path, 0o755)
  return {
    ffmpeg: { ...real, ffmpegPath: path },
    async most() {
      let [now, most] = [0, 0]
      for (const step of (await readFile(notes, 'utf8')).split('\n')) {
        now += Number(step)
        most = Math.max(most, now)
      }
      return most
    },
  }
}

it('are drawn of a few at a time, and of all in the end', async () => {
  const folder = await temporaryFolder()
  const store = await makeTestStore(folder)
  try {
    const { ffmpeg, most } = await noting(folder)
    const inspectFile = makeInspectFile({
      ...{ config: () => testConfig(), store: store.open(), ffmpeg, leases: { owner: 'this process' } },
      pendingFiles: { reserve: nothing, discard: nothing },
      ...{ clock: systemClock, torrentOf: async () => null },
    })
    const path = await media('small.mp4')
    const video = { name: 'A name', privacy: 1, blocked: false, waitTranscoding: false }
    const files = Array.from({ length: 3 * DRAWN_AT_ONCE }, (_, index) => `${index}.mp4`)
    const drafts = await Promise.all(
      files.map((inputFilename) => inspectFile.inspect({ video, inputFilename, path, pictures: {} })),
    )
    expect(drafts.map(({ pictures }) => pictures.length)).toEqual(files.map(() => 2))
    expect(await most()).toBe(DRAWN_AT_ONCE)
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}, 30_000)
