import { access, appendFile, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type LogSearch, openLogFiles, pageOfLogFiles, searchLogFiles } from '../../../src/platform/log-files/index.ts'
import { type LogFile, logFileName, readLogFileName } from '../../../src/platform/log-files/names.ts'
import { tidyLogFiles, tooMany } from '../../../src/platform/log-files/tidy.ts'
import { until } from '../../support/until.ts'

const folders: string[] = []
let directory: string
let warnings: string[]

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vireo-logs-'))
  folders.push(directory)
  warnings = []
})
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

const open = (options: Partial<Parameters<typeof openLogFiles>[0]> = {}) =>
  openLogFiles({
    directory,
    kind: 'web',
    host: 'here',
    pid: process.pid,
    rotation: { maxFileSize: 100_000, maxFiles: 3 },
    warn: (message) => warnings.push(message),
    ...options,
  })
const line = (time: number, msg: string, more: Record<string, unknown> = {}): string =>
  `${JSON.stringify({ level: 30, time, msg, ...more })}\n`
const written = async (): Promise<string> => {
  const names = (await readdir(directory)).toSorted()
  return (await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')))).join('')
}

describe('names of log files', () => {
  it('contain the process', () => {
    const name = logFileName({ kind: 'web+media', host: 'my-host.example', pid: 12 })
    expect(name).toBe('vireo-web+media-my_host_example-12.log')
    expect(readLogFileName(name)).toEqual({ kind: 'web+media', host: 'my_host_example', pid: 12, isFull: false })
    expect(readLogFileName('vireo-web-a-1.20260101T000000.2.log')?.isFull).toBe(true)
    for (const other of ['peertube.log', 'vireo-web-a-x.log', '../vireo-web-a-1.log', 'vireo-web-a-1.log.gz'])
      expect(readLogFileName(other)).toBeUndefined()
  })
})

describe('writing', () => {
  it('loses nothing at the end', async () => {
    const files = open({ rotation: null })
    const lines = Array.from({ length: 500 }, (_, n) => line(n, `line ${n}`))
    for (const one of lines) files.write(one)
    await files.close()
    expect(await written()).toBe(lines.join(''))
  })

  it('starts a new file when one is full, and keeps a limited number', async () => {
    const files = open()
    for (let n = 0; n < 100; n += 1) files.write(line(n, `line ${n} ${'x'.repeat(10_000)}`))
    await files.close()
    await tidyLogFiles({ directory, kind: 'web', host: 'here', maxFiles: 3, now: Date.now })
    expect(await readdir(directory)).toHaveLength(3)
    expect(await written()).toContain('line 99')
    expect(warnings).toEqual([])
  })

  it('continues the previous file', async () => {
    for (const text of ['one', 'two']) {
      const files = open({ rotation: null })
      files.write(line(1, text))
      await files.close()
    }
    expect(await written()).toBe(line(1, 'one') + line(1, 'two'))
  })

  it('reports a folder that is not writable once, retries later, and never fails', async () => {
    const place = join(directory, 'logs')
    await writeFile(place, 'a file in the place of the folder')
    let now = 0
    const files = open({ directory: place, now: () => now, rotation: null })
    files.write(line(1, 'lost'))
    await until(async () => warnings.length > 0)
    files.write(line(2, 'lost'))
    await rm(place)
    now += 60_000
    files.write(line(3, 'kept'))
    files.write(line(4, 'kept too'))
    await files.close()
    expect(warnings).toEqual(['log files cannot be written; standard output continues'])
    directory = place
    expect(await written()).toBe(line(3, 'kept') + line(4, 'kept too'))
  })
})

describe('old log files', () => {
  const file = (name: string, changedAt: number): LogFile => {
    const read = readLogFileName(name)
    if (!read) throw new Error(`${name} is no name of a log file`)
    return { ...read, name, path: name, size: 1, changedAt }
  }
  const HOUR = 3_600_000
  const options = { kind: 'web', host: 'here', maxFiles: 1, now: () => 10 * HOUR, isAlive: (pid: number) => pid === 1 }

  it('are removed, oldest first, also of ended processes, but none of a live one or of another kind', () => {
    const files = [
      file('vireo-web-here-2.log', 9.9 * HOUR),
      file('vireo-web-here-1.log', 2 * HOUR),
      file('vireo-web-here-3.log', 2 * HOUR),
      file('vireo-web-here-1.20260101T000000.1.log', HOUR),
      file('vireo-web-there-9.log', 9.5 * HOUR),
      file('vireo-web-there-8.log', 5 * HOUR),
      file('vireo-media-here-3.log', HOUR),
    ]
    expect(tooMany(files, options).map(({ name }) => name)).toEqual([
      'vireo-web-there-8.log',
      'vireo-web-here-3.log',
      'vireo-web-here-1.20260101T000000.1.log',
    ])
  })

  it('are removed from the folder, and nothing else is', async () => {
    for (const name of ['vireo-web-here-999999991.log', 'vireo-web-here-999999992.log', 'other.log']) {
      await writeFile(join(directory, name), 'x')
    }
    await utimes(join(directory, 'vireo-web-here-999999991.log'), 1, 1)
    await tidyLogFiles({ directory, kind: 'web', host: 'here', maxFiles: 1, now: Date.now })
    expect((await readdir(directory)).toSorted()).toEqual(['other.log', 'vireo-web-here-999999992.log'])
  })
})

describe('a search', () => {
  const all: LogSearch = { from: new Date(0), to: new Date(1e15), level: 'debug' }
  const bounds = { maxChars: 1e7, maxRead: 1e9 }
  const search = async (options: Partial<LogSearch> = {}, within: Partial<typeof bounds> = {}) =>
    (await searchLogFiles(directory, { ...all, ...options }, { ...bounds, ...within })).map(({ message }) => message)
  const put = (name: string, ...lines: string[]) => appendFile(join(directory, name), lines.join(''))

  it('merges the lines of all processes in order', async () => {
    const now = Date.now()
    await put('vireo-web-a-1.log', line(now + 1, 'a1'), line(now + 4, 'a4'))
    await put('vireo-media-b-7.log', line(now + 2, 'b2'), line(now + 3, 'b3'))
    await put('vireo-web-a-1.20260101T000000.1.log', line(now - 1, 'a-1'), line(now, 'a0'))
    await put('peertube.log', line(now, 'not ours'))
    expect(await search()).toEqual(['a-1', 'a0', 'a1', 'b2', 'b3', 'a4'])
    expect(await search({ from: new Date(now), to: new Date(now + 2) })).toEqual(['a0', 'a1', 'b2'])
  })

  it('filters by level and tags, and skips broken lines', async () => {
    const now = Date.now()
    await put(
      'vireo-web-a-1.log',
      line(now, 'info'),
      line(now, 'warning', { level: 40, tags: ['http', 'x'] }),
      '{"level":50,"time":',
      '\n\nnot json\n{"level":50,"time":1,"msg":"bro\n',
      line(now, 'error', { level: 50, tags: ['ap'] }),
      '{"level":50,"time":99999999999999,"msg":"half a',
    )
    expect(await search()).toEqual(['info', 'warning', 'error'])
    expect(await search({ level: 'warn' })).toEqual(['warning', 'error'])
    expect(await search({ tagsOneOf: ['ap', 'nothing'] })).toEqual(['error'])
    expect(await search({ tagsOneOf: [] })).toEqual([])
  })

  it('reads lines longer than a chunk, with multi-byte letters, and skips endless ones', async () => {
    const now = Date.now()
    const long = '🎞é'.repeat(40_000)
    await put('vireo-web-a-1.log', line(now, 'first'), line(now, long), line(now, 'z'.repeat(2_000_000)), line(now, 'last'))
    expect(await search()).toEqual(['first', long, 'last'])
  })

  it('returns the newest lines within the limits of results and reads', async () => {
    const now = Date.now()
    await put('vireo-web-a-1.log', ...Array.from({ length: 5000 }, (_, n) => line(now + n, `line ${n}`)))
    const few = await search({}, { maxChars: 500 })
    expect([few.length > 5, few.length < 12, few.at(-1)]).toEqual([true, true, 'line 4999'])
    const some = await search({}, { maxRead: 50_000 })
    expect([some.length > 500, some.length < 2000, some.at(-1)]).toEqual([true, true, 'line 4999'])
    expect(await search({ level: 'error' }, { maxRead: 10 })).toEqual([])
  })

  it('returns a page, newest first, of which older lines are not read', async () => {
    const now = Date.now()
    const lines = Array.from({ length: 5000 }, (_, n) =>
      line(now + n, `line ${n}`, { level: n % 10 === 0 ? 40 : 30, tags: [`tag${n % 2}`] }),
    )
    await put('vireo-web-a-1.20260101T000000.1.log', ...lines.slice(0, 4990))
    await put('vireo-web-a-1.log', ...lines.slice(4990), '{"level":50,"time":99999999999999,"msg":"half a')
    const page = async (start: number, options: Partial<LogSearch> = {}, maxRead = 1e9) => {
      const { total, lines } = await pageOfLogFiles(directory, { ...all, ...options }, { ...bounds, maxRead }, { start, count: 3 })
      return [total, lines.map(({ message }) => message)]
    }
    expect(await page(0, {}, 70_000)).toEqual([4, ['line 4999', 'line 4998', 'line 4997']])
    expect(await page(4998)).toEqual([5000, ['line 1', 'line 0']])
    expect(await page(6000)).toEqual([5000, []])
    expect(await page(3, { level: 'warn' })).toEqual([7, ['line 4960', 'line 4950', 'line 4940']])
    expect(await page(1, { tagsOneOf: ['tag0'] })).toEqual([5, ['line 4996', 'line 4994', 'line 4992']])
  })

  it('ends a page at the limit of reads, and goes on from there without those after it', async () => {
    const now = Date.now()
    const times = Array.from({ length: 20_000 }, (_, n) => now - 2_000_000 + n * 50)
    const [name, rare] = ['vireo-web-a-1.log', new Set([3, 10_000])]
    await put(name, ...times.map((time, n) => line(time, `line ${n}`, rare.has(n) ? { level: 50 } : {})))
    await put('vireo-media-b-7.log', ...times.map((time, n) => line(time + 1, `other ${n}`)))
    const search = async (to: Date, level: LogSearch['level'], maxRead: number) => {
      const page = await pageOfLogFiles(directory, { ...all, to, level }, { ...bounds, maxRead }, { start: 0, count: 3 })
      return { ...page, lines: page.lines.map(({ message }) => message) }
    }
    const found: string[] = []
    let [to, searches] = [new Date(now) as Date | undefined, 0]
    for (; to; searches++) {
      const { lines, searchedTo } = await search(to, 'error', 500_000)
      found.push(...lines)
      expect(Number(searchedTo ?? 0)).toBeLessThan(to.getTime())
      to = searchedTo
    }
    expect(found).toEqual(['line 10000', 'line 3'])
    expect([searches > 3, searches < 12]).toEqual([true, true])
    // In the middle of files, of which the end is not read.
    const middle = new Date(times[9000] ?? 0)
    expect(await search(middle, 'info', 200_000)).toEqual({
      total: 4,
      lines: ['line 9000', 'other 8999', 'line 8999'],
      searchedTo: undefined,
    })
  })

  it('goes on through what was written within seconds, or within a millisecond, and through many files', async () => {
    const now = Date.now()
    const steps = async (maxRead: number, level: LogSearch['level'] = 'error') => {
      const found: string[] = []
      let [to, searches] = [new Date(now) as Date | undefined, 0]
      for (; to && searches < 100; searches++) {
        const page = await pageOfLogFiles(directory, { ...all, to, level }, { ...bounds, maxRead }, { start: 0, count: 20 })
        if (page.searchedTo) expect(page.searchedTo.getTime()).toBeLessThan(to.getTime())
        found.push(...page.lines.map(({ message }) => message))
        to = page.searchedTo
      }
      return { found, searches }
    }
    const pad = 'z'.repeat(160)
    // 20 MB of two minutes, with an error 84 s ago.
    const busy = Array.from({ length: 100_000 }, (_, n) =>
      line(now - 120_000 + Math.floor(n * 1.2), n === 30_000 ? 'It broke' : pad, n === 30_000 ? { level: 50 } : {}),
    )
    await put('vireo-web-a-1.log', ...busy)
    const { found, searches } = await steps(2_000_000)
    expect({ found, isShort: searches < 15 }).toEqual({ found: ['It broke'], isShort: true })

    // A burst: up to twice the limit is read, and then it is left out.
    await rm(join(directory, 'vireo-web-a-1.log'))
    const burst = Array.from({ length: 4000 }, () => line(now - 5000, pad))
    await put('vireo-web-a-1.log', line(now - 6000, 'before', { level: 50 }), line(now - 5000, 'first of it', { level: 50 }), ...burst)
    expect((await steps(500_000)).found).toEqual(['first of it', 'before'])
    expect((await steps(100_000)).found).toEqual(['before'])

    // Opening each file is more than the limit.
    for (let n = 0; n < 20; n++) await put(`vireo-web-b-${n}.log`, ...burst.slice(0, 400), line(now - 4000, 'end'))
    const many = await steps(300_000)
    expect({ found: many.found, isShort: many.searches < 30 }).toEqual({ found: ['before'], isShort: true })
  })

  it('ends among lines of any length', async () => {
    const times = Array.from({ length: 1_000 }, (_, n) => n)
    for (const kib of [34, 36, 60, 300]) {
      const written = times.map((n) => line(n, n % 20 === 0 ? 'x'.repeat(kib * 1024) : 'short'))
      await writeFile(join(directory, 'vireo-web-here-1.log'), written.join(''))
      for (const to of [0, 333, 500, 998]) {
        const search = { from: new Date(0), to: new Date(to), level: 'info' } satisfies LogSearch
        const { lines } = await pageOfLogFiles(directory, search, { maxChars: 1e9, maxRead: 1e9 }, { start: 0, count: 3 })
        expect(lines.map(({ time }) => time)).toEqual([to, to - 1, to - 2].filter((time) => time >= 0))
      }
    }
  })

  it('finds nothing without a folder', async () => {
    directory = join(directory, 'nowhere')
    expect(await search()).toEqual([])
    await expect(access(directory)).rejects.toThrow()
    await mkdir(directory)
    expect(await search()).toEqual([])
  })
})
