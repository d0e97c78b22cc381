// The sitemap as files: streamed from the rows, cached for a day, and served from disk. One file if it is small enough, otherwise several
// with an index.

import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setImmediate as breathe } from 'node:timers/promises'
import type { SitemapItemLoose } from 'sitemap'
import type { Clock } from '../../platform/clock.ts'
import { realFolder } from '../../platform/folder.ts'
import { newUuid } from '../../platform/ids.ts'
import type { Logger } from '../../platform/logger.ts'

/** Limits of a file: URLs, and approximate bytes (sitemaps.org: 50,000 and 50 MiB). */
const MAX_URLS = 50_000
const MAX_BYTES = 45 * 1024 * 1024
const AT_ONCE = 25
/** Age of folders of dead processes; younger ones may be in use by another process. */
const LEFT_AFTER_MS = 2 * 86_400_000

export function makeSitemaps(deps: {
  /** Contains one folder per generation. */
  root: string
  origin: string
  /** All listed pages. */
  items: () => AsyncGenerator<SitemapItemLoose, void, undefined>
  keepMs: () => number
  clock: Clock
  logger: Logger
  mostUrls?: number
}) {
  const { root, origin, items, keepMs, clock, logger, mostUrls = MAX_URLS } = deps
  let made: { folder: string; at: number } | undefined
  let making: Promise<string> | undefined

  async function make(): Promise<string> {
    const at = clock.now().getTime()
    const folder = join(root, `${at}-${newUuid()}`)
    await mkdir(folder, { recursive: true })
    try {
      await write(folder)
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
    const before = made
    made = { folder, at }
    await removeOld(before?.folder, at)
    return folder
  }

  async function write(folder: string): Promise<void> {
    const all = items()
    const files: string[] = []
    let next = await all.next()
    do {
      files.push(`sitemap-${files.length + 1}.xml`)
      next = await writeFile(join(folder, files.at(-1) ?? ''), all, next)
    } while (!next.done)
    if (files.length === 1) return await rename(join(folder, 'sitemap-1.xml'), join(folder, 'sitemap.xml'))
    const { ErrorLevel, SitemapIndexStream } = await import('sitemap')
    const index = new SitemapIndexStream({ level: ErrorLevel.SILENT })
    await pipeline(
      Readable.from(files.map((name) => ({ url: `${origin}/${name}` }))),
      index,
      createWriteStream(join(folder, 'sitemap.xml')),
    )
  }

  /** Writes until the file is full; returns the item that did not fit. */
  async function writeFile(path: string, all: AsyncGenerator<SitemapItemLoose, void, undefined>, first: Next) {
    let next = first
    let urls = 0
    let bytes = 0
    const { ErrorLevel, SitemapStream } = await import('sitemap')
    const stream = new SitemapStream({ level: ErrorLevel.SILENT })
    async function* some(): AsyncGenerator<SitemapItemLoose> {
      while (!next.done && urls < mostUrls && bytes < MAX_BYTES) {
        urls += 1
        // The streams consume available items without yielding to other work.
        if (urls % AT_ONCE === 0) await breathe()
        yield next.value
        next = await all.next()
      }
    }
    await pipeline(
      Readable.from(some(), { highWaterMark: 16 }),
      stream,
      async function* count(chunks: AsyncIterable<Buffer | string>) {
        for await (const chunk of chunks) {
          bytes += Buffer.byteLength(chunk)
          yield chunk
        }
      },
      createWriteStream(path),
    )
    return next
  }

  async function removeOld(before: string | undefined, now: number): Promise<void> {
    if (before) await rm(before, { recursive: true, force: true })
    for (const name of await readdir(root)) {
      const at = Number(/^(\d+)-/.exec(name)?.[1] ?? Number.NaN)
      if (now - at > LEFT_AFTER_MS + keepMs()) await rm(join(root, name), { recursive: true, force: true })
    }
  }

  return {
    /** The folder of the newest files: `sitemap.xml`, and `sitemap-1.xml` and so on if that is an index. */
    async folder() {
      const known = made
      // Cached files may be deleted at any time.
      const isThere = known !== undefined && (await realFolder(known.folder)) !== undefined
      if (isThere && clock.now().getTime() - known.at < keepMs()) return known.folder
      making ??= make().finally(() => {
        making = undefined
      })
      if (!isThere) return await making
      // The old one is served until the new one is ready.
      making.catch((error: unknown) => logger.warn({ err: error }, 'the sitemap cannot be written'))
      return known.folder
    },
  }
}

type Next = IteratorResult<SitemapItemLoose, void>
