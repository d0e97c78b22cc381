// A single ffmpeg process: progress, cancellation, stalls, memory, errors.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { FfmpegCommandSpec } from '../../../src/media/ffmpeg/run.ts'
import { type RunOptions, runFfmpeg } from '../../../src/media/ffmpeg/run.ts'
import type { Ffmpeg } from '../../../src/media/index.ts'
import { killOrphan } from '../../../src/media/process.ts'
import { media, temporaryFolder, testFfmpeg } from '../../support/media.ts'

const ffmpeg: Ffmpeg = await testFfmpeg()

/** As fast as possible. */
const FAST = 'color=s=16x16:r=2:d=3600000'

/** Takes hours, so that only a kill ends it. */
async function endless(folder: string): Promise<FfmpegCommandSpec> {
  const source = 'testsrc=size=640x360:rate=30:duration=36000'
  return {
    inputs: [{ source, options: ['-re', '-f', 'lavfi'] }],
    filter: undefined,
    threads: 1,
    outputs: [{ target: join(folder, 'out.mp4'), options: ['-c:v', 'libx264', '-preset', 'ultrafast'] }],
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const run = (options: Partial<RunOptions> & Pick<RunOptions, 'spec'>) =>
  runFfmpeg({ ffmpeg, duration: 36_000, limits: { stallMs: 20_000 }, ...options })

describe('a running ffmpeg', () => {
  it('reports monotonic progress up to 100', async () => {
    const folder = await temporaryFolder()
    const seen: number[] = []
    const source = await media('small.mp4')
    const outputs = [{ target: join(folder, 'out.mp4'), options: ['-c', 'copy'] }]
    // In real time, so that there is progress to report.
    const spec = { inputs: [{ source, options: ['-re'] }], filter: undefined, threads: 1, outputs }
    await run({ spec, duration: 2, onProgress: (percent) => seen.push(percent) })
    expect(seen.at(-1)).toBe(100)
    expect(seen.length).toBeGreaterThan(1)
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
  })

  it('is killed by the caller, and gone when the error arrives', async () => {
    const folder = await temporaryFolder()
    const controller = new AbortController()
    let pid = 0
    const failure = run({
      spec: await endless(folder),
      signal: controller.signal,
      onStart: (started) => {
        pid = started.pid
        controller.abort()
      },
    })
    await expect(failure).rejects.toMatchObject({ reason: 'aborted' })
    expect(pid).toBeGreaterThan(1)
    expect(isAlive(pid)).toBe(false)
  })

  it('is killed when its output exceeds the limit', async () => {
    const pids: number[] = []
    const spec = { ...(await endless(await temporaryFolder())), inputs: [{ source: FAST, options: ['-f', 'lavfi'] }] }
    const failure = run({ spec, longest: 60, onStart: ({ pid }) => pids.push(pid) })
    await expect(failure).rejects.toMatchObject({ reason: 'too-long' })
    expect(pids.map(isAlive)).toEqual([false])
  })

  it('is not started for a cancelled caller', async () => {
    const spec = await endless(await temporaryFolder())
    const onStart = () => {
      throw new Error('It was started.')
    }
    await expect(run({ spec, signal: AbortSignal.abort(), onStart })).rejects.toMatchObject({ reason: 'aborted' })
  })

  it('is killed when it stalls, even if it ignores signals', async () => {
    let pid = 0
    const failure = run({
      spec: await endless(await temporaryFolder()),
      limits: { stallMs: 300 },
      onStart: (started) => {
        pid = started.pid
        process.kill(pid, 'SIGSTOP')
      },
    })
    await expect(failure).rejects.toMatchObject({ reason: 'stalled' })
    expect(isAlive(pid)).toBe(false)
  })

  it('is killed when it exceeds its memory limit', async () => {
    const failure = run({
      spec: await endless(await temporaryFolder()),
      limits: { stallMs: 20_000, maxMemoryBytes: 1 << 20 },
    })
    await expect(failure).rejects.toMatchObject({ reason: 'memory' })
  })

  it('runs with the given niceness', async () => {
    const controller = new AbortController()
    let fields: string[] = []
    const failure = run({
      spec: await endless(await temporaryFolder()),
      niceness: 15,
      signal: controller.signal,
      onStart: ({ pid }) => {
        readFile(`/proc/${pid}/stat`, 'utf8').then((stat) => {
          fields = stat.slice(stat.lastIndexOf(')')).split(' ')
          controller.abort()
        })
      },
    })
    await expect(failure).rejects.toMatchObject({ reason: 'aborted' })
    expect(fields[17]).toBe('15')
  })

  it('that fails has an error with the end of its output', async () => {
    const source = await media('text.mp4')
    const spec = {
      inputs: [{ source, options: [] }],
      filter: undefined,
      threads: 1,
      outputs: [{ target: join(await temporaryFolder(), 'out.mp4'), options: ['-c', 'copy'] }],
    }
    await expect(run({ spec })).rejects.toMatchObject({
      reason: 'failed',
      detail: expect.stringContaining('Invalid data found'),
    })
  })

  it('supports paths with spaces and special characters', async () => {
    const folder = join(await temporaryFolder(), "it's [a] %d, folder;")
    await mkdir(folder)
    const target = join(folder, 'out put.mp4')
    const source = await media('small.mp4')
    const outputs = [{ target, options: ['-c', 'copy'] }]
    await run({ spec: { inputs: [{ source, options: [] }], filter: undefined, threads: 1, outputs } })
    expect(await readdir(folder)).toEqual(['out put.mp4'])
  })
})

describe('the input guard', () => {
  it('is active by default', async () => {
    const source = await media('small.mp4')
    const outputs = [{ target: join(await temporaryFolder(), 'out.mp4'), options: ['-c', 'copy'] }]
    let seen = ''
    await run({
      spec: {
        inputs: [source, source].map((one) => ({ source: one, options: [] })),
        filter: undefined,
        threads: 1,
        outputs,
      },
      onStart: ({ commandLine }) => {
        seen = commandLine
      },
    })
    for (const option of ['-protocol_whitelist file', '-format_whitelist mov,', '-codec_whitelist h264,']) {
      expect(seen.split(option)).toHaveLength(3)
    }
    expect(seen).not.toContain('magicyuv')
  })

  it('cannot be bypassed: nothing else starts media programs', async () => {
    const sources = join(import.meta.dirname, '../../../src')
    const names = (await readdir(sources, { recursive: true })).filter((name) => name.endsWith('.ts'))
    const starters: string[] = []
    for (const name of names) {
      const text = await readFile(join(sources, name), 'utf8')
      if (/ffmpegPath|ffprobePath/.test(text) && /node:child_process|runProcess\(/.test(text)) starters.push(name)
    }
    // find.ts reads versions; mux.ts, probe.ts, and the cutter and sender of lives have the guard in their arguments.
    const expected = ['ffmpeg/find', 'ffmpeg/mux', 'ffmpeg/probe', 'ffmpeg/run', 'live/cutter', 'live/sender']
    expect(starters.sort()).toEqual(expected.map((name) => `media/${name}.ts`))
  })
})

describe('an orphan of a dead worker', () => {
  it('is killed by the next one in the same folder', async () => {
    const folder = await temporaryFolder()
    const pidFile = join(folder, 'ffmpeg.pid')
    let pid = 0
    const failure = run({
      spec: await endless(folder),
      onStart: (started) => {
        pid = started.pid
        writeFile(pidFile, `${pid}`).then(() => killOrphan(pidFile, folder))
      },
    })
    await expect(failure).rejects.toMatchObject({ reason: 'failed' })
    expect(isAlive(pid)).toBe(false)
  })

  it('is not touched in a folder with the same prefix', async () => {
    const folder = await temporaryFolder()
    const pidFile = join(folder, 'ffmpeg.pid')
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', `${folder}2/out.mp4`])
    try {
      await once(other, 'spawn')
      await writeFile(pidFile, `${other.pid}`)
      await killOrphan(pidFile, folder)
      expect([other.signalCode, other.killed, isAlive(other.pid ?? 0)]).toEqual([null, false, true])
    } finally {
      other.kill('SIGTERM')
      const [, endedBy] = await once(other, 'exit')
      expect(endedBy).toBe('SIGTERM')
    }
  })

  it('is not touched when its pid belongs to another program now', async () => {
    const folder = await temporaryFolder()
    const pidFile = join(folder, 'ffmpeg.pid')
    await writeFile(pidFile, `${process.pid}`)
    await killOrphan(pidFile, folder)
    expect(isAlive(process.pid)).toBe(true)
    expect(await readdir(folder)).toEqual([])
  })
})
