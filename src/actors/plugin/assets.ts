// What web clients load of plugins with each page: one style sheet, and the translations of a language.

import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileIn } from '../../platform/folder.ts'
import type { Logger } from '../../platform/logger.ts'
import { makeLru } from '../../platform/lru.ts'
import type { ActivePlugins } from './active-plugins.ts'
import { pluginTypes, typeOf } from './manifest.ts'
import type { PluginRow } from './plugin.queries.ts'

/** Bytes of one file; larger ones are left out. */
const LARGEST = 512 * 1024
/** Cached languages. */
const MAX_LANGUAGES = 100

interface TextFile {
  plugin: PluginRow
  path: string
}

export type PluginAssets = ReturnType<typeof makePluginAssets>

export function makePluginAssets({ active, logger }: { active: Pick<ActivePlugins, 'recent' | 'folderOf'>; logger: Logger }) {
  /** Keyed by the set of plugins. */
  const styles = makeLru<string, { body: Buffer; etag: string }, readonly PluginRow[]>(1, {
    async fetchMethod(_key, _stale, { context: plugins }) {
      const texts: string[] = []
      for (const plugin of plugins.filter(({ npm_name }) => typeOf(npm_name) === pluginTypes.plugin)) {
        for (const path of plugin.manifest.css) texts.push(await textOf(plugin, path))
      }
      const body = Buffer.from(texts.join('\n'))
      return { body, etag: `"${hash('sha1', body, 'base64url')}"` }
    },
  })
  /** Keyed by the files. */
  const texts = makeLru<string, Record<string, unknown>, TextFile[]>(MAX_LANGUAGES, {
    async fetchMethod(_key, _stale, { context: files }) {
      const found = files.map(async ({ plugin, path }) => [plugin.npm_name, parse(await textOf(plugin, path))] as const)
      return Object.fromEntries(await Promise.all(found))
    },
  })

  /** A file that is missing or too large is the plugin's fault, and must not harm the others. */
  async function textOf(plugin: PluginRow, path: string): Promise<string> {
    const file = await fileIn(await active.folderOf(plugin), path)
    if (file && file.size <= LARGEST) return await readFile(file.path, 'utf8')
    logger.warn({ plugin: plugin.npm_name, path }, 'a file of a plugin is missing or too large')
    return ''
  }

  return {
    /** The styles of all plugins; clients load those of themes one by one. */
    async globalCss(): Promise<{ body: Buffer; etag: string }> {
      const plugins = await active.recent()
      return await styles.forceFetch(plugins.map(({ integrity }) => integrity).join(), { context: plugins })
    },

    /** By the npm name of the plugin; those without this language are missing. */
    async translations(locale: string): Promise<Record<string, unknown>> {
      const plugins = await active.recent()
      const files = plugins.flatMap((plugin) => {
        const path = nearest(plugin.manifest.translations, locale)
        return path === undefined ? [] : [{ plugin, path }]
      })
      if (files.length === 0) return {}
      // Any locale may be asked for, but there are only so many files.
      return await texts.forceFetch(JSON.stringify(files.map(({ plugin, path }) => [plugin.integrity, path])), { context: files })
    },
  }
}

/** That of the locale, or of its language. */
function nearest(files: Record<string, string>, locale: string): string | undefined {
  const [language = ''] = locale.split('-')
  const of = (name: string) => (Object.hasOwn(files, name) ? files[name] : undefined)
  const sibling = Object.keys(files).find((name) => name.startsWith(`${language}-`))
  return of(locale) ?? of(language) ?? (sibling === undefined ? undefined : of(sibling))
}

function parse(text: string): Record<string, string> {
  try {
    const value: unknown = JSON.parse(text)
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
    return Object.fromEntries(entries.filter(([, word]) => typeof word === 'string'))
  } catch {
    return {}
  }
}
