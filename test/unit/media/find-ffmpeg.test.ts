// Selection of a usable ffmpeg, with a one-line error when there is none.

import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { findFfmpeg } from '../../../src/media/index.ts'
import { fakeTools } from '../../support/fake-ffmpeg.ts'
import { temporaryFolder, testFfmpeg } from '../../support/media.ts'

describe('findFfmpeg', () => {
  it('finds one that runs, with its version', async () => {
    const found = await testFfmpeg()
    expect(found.version).toMatch(/\d/)
    expect(found.ffprobePath).not.toBe('')
  })

  it('prefers the one on PATH if it has the encoders', async () => {
    const path = await fakeTools(['libx264', 'aac'])
    expect(await findFfmpeg({ path })).toEqual({
      ffmpegPath: join(path, 'ffmpeg'),
      ffprobePath: join(path, 'ffprobe'),
      version: '8.1.2',
      canToneMap: false,
      asFiltered: ['-fps_mode', 'vfr'],
      warnings: [],
    })
  })

  it('skips one without libx264', async () => {
    const path = await fakeTools(['aac', 'libx264rgb'])
    expect((await findFfmpeg({ path })).ffmpegPath).toContain('@ffmpeg-installer')
  })

  it('uses the packaged one if PATH has none, and warns that it is old', async () => {
    const found = await findFfmpeg({ path: await temporaryFolder() })
    expect(found.ffmpegPath).toContain('@ffmpeg-installer')
    expect(found.warnings).toEqual([expect.stringContaining('old build')])
  })

  it('refuses a configured one without libx264, in one line with a remedy', async () => {
    const folder = await fakeTools(['aac'])
    const failure = findFfmpeg({ ffmpegPath: join(folder, 'ffmpeg'), ffprobePath: join(folder, 'ffprobe') })
    await expect(failure).rejects.toMatchObject({
      reason: 'ffmpeg-missing',
      message: expect.stringMatching(/^[^\n]*built without libx264[^\n]*Install ffmpeg[^\n]*$/),
    })
  })

  it('refuses a configured one that does not exist', async () => {
    await expect(findFfmpeg({ ffmpegPath: '/nowhere/ffmpeg' })).rejects.toMatchObject({
      reason: 'ffmpeg-missing',
      message: expect.stringMatching(/^[^\n]*cannot be run[^\n]*$/),
    })
  })

  it.each([
    ['8.1.2', []],
    ['8.1', ['CVE-2026-8461']],
    ['8.1.1', ['CVE-2026-8461']],
    ['8.0.3', ['CVE-2026-8461']],
    ['8.2', []],
    ['9.0.1', []],
    ['n7.1.5', []],
    ['7.1.4-0+deb13u1', ['CVE-2026-8461']],
    ['6.1.6', []],
    ['6.0.1', ['CVE-2026-8461']],
    ['5.1.10-0+deb12u1', []],
    ['5.1.6-0+deb12u1', ['CVE-2026-8461']],
    ['4.4.6', ['CVE-2026-8461', 'old build']],
  ])('reports the known vulnerabilities of %s', async (version, named) => {
    const { warnings } = await findFfmpeg({ path: await fakeTools(['libx264', 'aac'], version) })
    expect(warnings).toHaveLength(Math.min(1, named.length))
    for (const name of named) expect(warnings[0]).toContain(name)
  })
})
