// A built web client in a folder of the administrator: `<locale>/index.html` for each language, and `standalone/videos/embed.html`.

import { readdir, readFile } from 'node:fs/promises'
import type { Clock } from '../../platform/clock.ts'
import { type FolderFile, fileIn, realFolder } from '../../platform/folder.ts'
import type { Logger } from '../../platform/logger.ts'
import { makeLocales } from './locales.ts'
import { parseTemplate, type Template } from './template.ts'

export type BuiltClient = Awaited<ReturnType<typeof openClient>>

const EMBED = 'standalone/videos/embed.html'
const MANIFEST = 'manifest.webmanifest'
const LOCALE = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/
/** Bytes; pages of clients have some ten thousand. */
const LARGEST = 2 * 1024 * 1024
/** How often a file is checked for changes, when it is requested. */
const LOOK_EVERY_MS = 2_000

/** Throws an Error of one line that says what is missing in the folder. */
export async function openClient(deps: { folder: string; clock: Clock; logger: Logger }) {
  const { folder, clock, logger } = deps
  const refuse = (reason: string, cause?: unknown): never => {
    throw new Error(`vireo.client.dist: ${folder} ${reason}`, { cause })
  }
  const root = (await realFolder(folder)) ?? refuse('is no folder that can be read.')

  const found: string[] = []
  for (const { name } of await readdir(root, { withFileTypes: true })) {
    if (LOCALE.test(name) && (await fileIn(root, `${name}/index.html`))) found.push(name)
  }
  if (found.length === 0) refuse('does not contain a built web client: <locale>/index.html is missing, such as en-US/index.html.')

  const open = <T>(path: string, read: (text: string) => T) =>
    keep({ path, locate: () => fileIn(root, path), read, clock, logger }).catch((error: unknown) =>
      refuse(`holds a ${path} that cannot be used: ${error instanceof Error ? error.message : String(error)}`, error),
    )
  const pages = new Map<string, () => Promise<Template>>()
  for (const locale of found.sort()) pages.set(locale, await open(`${locale}/index.html`, readPage))
  const embed = await open(EMBED, readPage)
  const manifest: () => Promise<Record<string, unknown> | undefined> = (await fileIn(root, MANIFEST))
    ? await open(MANIFEST, readManifest)
    : async () => undefined

  return {
    /** The folder, with links resolved. */
    root,
    locales: makeLocales(found),
    /** The page of an existing locale. Throws for others. */
    page(locale: string): Promise<Template> {
      const page = pages.get(locale)
      if (!page) throw new Error(`The web client has no locale ${locale}.`)
      return page()
    },
    embed,
    /** The client's web app manifest; undefined without one. */
    manifest,
  }
}

function readPage(text: string): Template {
  const template = parseTemplate(text)
  if (!template.has('server config')) throw new Error('it has no comment `server config`.')
  return template
}

function readManifest(text: string): Record<string, unknown> {
  const manifest: unknown = JSON.parse(text)
  if (typeof manifest !== 'object' || manifest === null || Array.isArray(manifest)) throw new Error('it is no object.')
  return { ...manifest }
}

/** Reads a file now, and again when it has changed. An unusable new version is ignored. */
async function keep<T>(options: {
  path: string
  locate: () => Promise<FolderFile | undefined>
  read: (text: string) => T
  clock: Clock
  logger: Logger
}): Promise<() => Promise<T>> {
  const { path, locate, read, clock, logger } = options
  const load = async (file: FolderFile) => {
    if (file.size > LARGEST) throw new Error(`it has more than ${LARGEST} bytes.`)
    return { value: read(await readFile(file.path, 'utf8')), version: versionOf(file) }
  }
  const first = await locate()
  if (!first) throw new Error('it is not there.')
  let kept = await load(first)
  let refused = ''
  let lookedAt = clock.now().getTime()

  async function look(): Promise<void> {
    const file = await locate()
    const version = file ? versionOf(file) : 'none'
    if (version === kept.version || version === refused) return
    try {
      if (!file) throw new Error('it is not there.')
      kept = await load(file)
    } catch (error) {
      refused = version
      logger.warn({ err: error, path }, 'a page of the web client is invalid; the previous one stays in use')
    }
  }

  return async () => {
    const now = clock.now().getTime()
    if (now - lookedAt >= LOOK_EVERY_MS) {
      // Set first, so that only one of many requests checks.
      lookedAt = now
      await look()
    }
    return kept.value
  }
}

const versionOf = ({ size, modifiedAt }: FolderFile): string => `${modifiedAt.getTime()} ${size}`
