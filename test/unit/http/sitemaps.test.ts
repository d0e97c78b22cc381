// Sitemap files: split with an index, cached for a while, and cleaned up.

import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import type { SitemapItemLoose } from 'sitemap'
import type { ListedPage } from '../../../src/actors/sitemap/index.ts'
import { sitemapItem } from '../../../src/http/crawlers/sitemap-items.ts'
import { makeSitemaps } from '../../../src/http/crawlers/sitemaps.ts'
import { toShortUuid } from '../../../src/platform/ids.ts'
import { silentLogger } from '../../../src/platform/logger.ts'
import { fakeClock } from '../../support/clock.ts'
import { until } from '../../support/until.ts'

const ORIGIN = 'https://videos.example'

describe('the files of a sitemap', () => {
  const clock = fakeClock()
  let root: string
  let count: number
  let readings: number
  let fault: Error | undefined
  const make = () =>
    makeSitemaps({
      root,
      clock,
      origin: ORIGIN,
      logger: silentLogger,
      mostUrls: 3,
      keepMs: () => 1000,
      async *items(): AsyncGenerator<SitemapItemLoose, void, undefined> {
        readings += 1
        for (let index = 0; index < count; index += 1) yield { url: `${ORIGIN}/w/${index}` }
        if (fault) throw fault
      },
    })
  const locations = async (path: string) =>
    [...(await readFile(path, 'utf8')).matchAll(/<loc>(.*?)<\/loc>/g)].map(([, loc]) => loc?.replace(ORIGIN, ''))

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'vireo-sitemaps-'))
  })
  afterAll(() => rm(root, { recursive: true, force: true }))
  beforeEach(async () => {
    await rm(root, { recursive: true, force: true })
    readings = 0
    count = 3
    fault = undefined
  })

  it('are a single one if everything fits', async () => {
    const folder = await make().folder()
    expect(await readdir(folder)).toEqual(['sitemap.xml'])
    expect(await locations(join(folder, 'sitemap.xml'))).toEqual(['/w/0', '/w/1', '/w/2'])
  })

  it('are several with an index otherwise', async () => {
    count = 7
    const folder = await make().folder()
    expect(await readdir(folder)).toEqual(['sitemap-1.xml', 'sitemap-2.xml', 'sitemap-3.xml', 'sitemap.xml'])
    const index = await readFile(join(folder, 'sitemap.xml'), 'utf8')
    expect(index).toContain('<sitemapindex')
    expect(await locations(join(folder, 'sitemap.xml'))).toEqual(['/sitemap-1.xml', '/sitemap-2.xml', '/sitemap-3.xml'])
    const all = [1, 2, 3].map((page) => locations(join(folder, `sitemap-${page}.xml`)))
    expect((await Promise.all(all)).flat()).toEqual([0, 1, 2, 3, 4, 5, 6].map((index) => `/w/${index}`))
  })

  it('are written once for simultaneous requests, and refreshed while the old ones are served', async () => {
    const sitemaps = make()
    const [first, same] = await Promise.all([sitemaps.folder(), sitemaps.folder()])
    expect([same, readings]).toEqual([first, 1])
    expect([await sitemaps.folder(), readings]).toEqual([first, 1])
    clock.pass(1000)
    expect(await sitemaps.folder()).toBe(first)
    const second = await until(async () => {
      const now = await sitemaps.folder()
      return now === first ? undefined : now
    })
    expect(await until(async () => (await readdir(root)).length === 1 && (await readdir(root))[0])).toBe(second.slice(root.length + 1))
  })

  it('leave nothing behind when they cannot be written, and are written by the next request', async () => {
    const sitemaps = make()
    fault = new Error('the database is gone')
    await expect(sitemaps.folder()).rejects.toThrow('the database is gone')
    expect(await readdir(root)).toEqual([])
    fault = undefined
    expect(await readdir(await sitemaps.folder())).toEqual(['sitemap.xml'])
  })

  it('are written again when the cache folder was emptied', async () => {
    const sitemaps = make()
    const first = await sitemaps.folder()
    await rm(root, { recursive: true })
    const second = await sitemaps.folder()
    expect(second).not.toBe(first)
    expect(await readdir(second)).toEqual(['sitemap.xml'])
    // Also when another process removed one that was not requested for a while.
    clock.pass(1000)
    await rm(second, { recursive: true })
    expect(await readdir(await sitemaps.folder())).toEqual(['sitemap.xml'])
  })

  it('replace files of dead processes', async () => {
    await mkdir(join(root, `${clock.now().getTime() - 3 * 86_400_000}-dead`), { recursive: true })
    await mkdir(join(root, `${clock.now().getTime()}-alive`))
    await make().folder()
    const left = (await readdir(root)).map((name) => name.split('-').at(1))
    expect(left).toContain('alive')
    expect(left).not.toContain('dead')
  })
})

describe('an entry of a sitemap', () => {
  const changedAt = new Date(1000)
  const lastmod = '1970-01-01T00:00:01.000Z'

  it('has the URL and its modification time', () => {
    const uuid = '4da6fde3-88f7-4d16-b119-108df5630b06'
    const of = (page: ListedPage) => sitemapItem(page, { origin: ORIGIN })
    expect(of({ kind: 'video', uuid, changedAt })).toEqual({ url: `${ORIGIN}/w/${toShortUuid(uuid)}`, lastmod })
    expect(of({ kind: 'channel', name: 'birds', changedAt })).toEqual({ url: `${ORIGIN}/c/birds/videos`, lastmod })
    expect(of({ kind: 'account', name: 'jane', changedAt })).toEqual({
      url: `${ORIGIN}/a/jane/video-channels`,
      lastmod,
    })
  })
})
