// The journey of `npm run demo` in one process: a video is uploaded on one node, and watched, commented and liked on another.

import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { playJourney } from '../../scripts/demo/journey.ts'
import { media, serverFfmpeg } from '../support/media.ts'
import { startTestNode, type TestNode } from '../support/node.ts'

let a: TestNode
let b: TestNode
beforeAll(async () => {
  a = await startTestNode()
  b = await startTestNode()
})
afterAll(async () => {
  await a.stop()
  await b.stop()
})

it('a video is uploaded on one node, and watched, commented, liked, changed, removed and unfollowed on another', async () => {
  const { ffprobePath } = await serverFfmpeg()
  const steps: string[] = []
  await playJourney({
    a,
    b,
    video: { bytes: await readFile(await media('journey.mp4')), seconds: 4 },
    ffprobePath,
    report: ({ what }) => steps.push(what),
    transcodingMs: 90_000,
    // A limit of the demo, which has the machine for itself.
    arrivalMs: 20_000,
  })
  expect(steps.at(-1)).toBe('the jobs of both come to rest')
})
