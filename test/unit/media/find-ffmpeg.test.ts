// Finding a usable ffmpeg, and one clear line when there is none.

import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { findFfmpeg } from '../../../src/media/index.ts'
import { temporaryFolder, testFfmpeg } from '../../support/media.ts'

/** A script that answers like an ffmpeg with these encoders. */
async function fakeTools(encoders: string[], version = '8.1.2'): Promise<string> {
  const folder = await temporaryFolder()
  const table = encoders.map((name) => ` V..... ${name}   something`).join('\n')
  const script = `#!/bin/sh
case "$2" in
  -version) echo "ffmpeg version ${version} Copyright (c) 2000-2025 the FFmpeg developers" ;;
  -encoders) cat <<'END'
${table}
END
  ;;
  -filters) echo " ... scale V->V x" ;;
  -h) echo "-fps_mode[:<stream_spec>]  set framerate mode for matching video streams" ;;
esac
`
  for (const name of ['ffmpeg', 'ffprobe']) {
    await writeFile(join(folder, name), script)
    await chmod(join(folder, name), 0o755)
  }
  return folder
}

describe('findFfmpeg', () => {
  it('finds one that can be run, and says which version it is', async () => {
    const found = await testFfmpeg()
    expect(found.version).toMatch(/\d/)
    expect(found.ffprobePath).not.toBe('')
  })

  it('prefers the one on the search path when it has the encoders', async () => {
    const path = await fakeTools(['libx264', 'aac'])
    expect(await findFfmpeg({ path })).toEqual({
      ffmpegPath: join(path, 'ffmpeg'),
      ffprobePath: join(path, 'ffprobe'),
      version: '8.1.2',
      bundled: false,
      canToneMap: false,
      asFiltered: ['-fps_mode', 'vfr'],
      warnings: [],
    })
  })

  it('passes over one without libx264', async () => {
    const path = await fakeTools(['aac', 'libx264rgb'])
    expect((await findFfmpeg({ path })).bundled).toBe(true)
  })

  it('uses the packaged one when the search path has none, and warns that it is old', async () => {
    const found = await findFfmpeg({ path: await temporaryFolder() })
    expect(found.bundled).toBe(true)
    expect(found.warnings).toEqual([expect.stringContaining('old build')])
  })

  it('refuses a configured one without libx264, in one line that says what to do', async () => {
    const folder = await fakeTools(['aac'])
    const failure = findFfmpeg({ ffmpegPath: join(folder, 'ffmpeg'), ffprobePath: join(folder, 'ffprobe') })
    await expect(failure).rejects.toMatchObject({
      reason: 'ffmpeg-missing',
      message: expect.stringMatching(/^[^\n]*built without libx264[^\n]*Install ffmpeg[^\n]*$/),
    })
  })

  it('refuses a configured one that is not there', async () => {
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
  ])('says which known holes %s has', async (version, named) => {
    const { warnings } = await findFfmpeg({ path: await fakeTools(['libx264', 'aac'], version) })
    expect(warnings).toHaveLength(Math.min(1, named.length))
    for (const name of named) expect(warnings[0]).toContain(name)
  })
})
