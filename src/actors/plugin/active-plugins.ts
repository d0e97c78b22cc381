// The enabled plugins, cached for a moment, and their files on the disk of this machine: every process unpacks the packages for itself.

import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bus } from '../../platform/bus/index.ts'
import { realFolder } from '../../platform/folder.ts'
import { makeTtlCache } from '../../platform/ttl-cache.ts'
import { type ActorDeps, notFound } from '../runtime/index.ts'
import { setAddedLabels } from '../video/index.ts'
import { pluginTypes, shortName, typeOf } from './manifest.ts'
import { unpack, verifyIntegrity } from './package.ts'
import { PLUGINS_TOPIC } from './plugin.commands.ts'
import { listEnabledPlugins, type PluginRow } from './plugin.queries.ts'

const KEEP_MS = 1000
const TIDY_EVERY_MS = 3_600_000
const NONE: readonly PluginRow[] = []

export type ActivePlugins = ReturnType<typeof makeActivePlugins>

export function makeActivePlugins(deps: ActorDeps & { bus: Pick<Bus, 'subscribe'> }) {
  const { db, clock, config, registry, bus } = deps
  const kept = makeTtlCache<'rows', readonly PluginRow[]>({ clock, max: 1 })
  let current = NONE
  let themes: ReadonlySet<string> = new Set()
  const unpacking = new Map<string, Promise<string>>()
  const unsubscribe = bus.subscribe(PLUGINS_TOPIC, () => kept.clear())
  const packages = (): string => join(config().storage.plugins, 'packages')

  registry.periodic('old-plugin-folders', { everyMs: () => TIDY_EVERY_MS, everywhere: true, run: removeOld })

  /** Packages that are not enabled any more, and what killed processes left; those of others than this machine's processes are theirs. */
  async function removeOld(): Promise<void> {
    const root = await realFolder(packages())
    if (root === undefined) return
    const used = new Set((await listEnabledPlugins(db.query)).map(folderName))
    for (const name of await readdir(root)) {
      const isKept = name.startsWith(UNFINISHED) ? await isRecent(join(root, name)) : used.has(name)
      if (!isKept) await rm(join(root, name), { recursive: true, force: true })
    }
  }

  /** A process that is unpacking renames its folder within seconds; true for one that is gone. */
  async function isRecent(folder: string): Promise<boolean> {
    const found = await stat(folder).catch(() => undefined)
    return found === undefined || clock.now().getTime() - found.mtimeMs < TIDY_EVERY_MS
  }

  async function read(): Promise<readonly PluginRow[]> {
    const rows = await listEnabledPlugins(db.query)
    current = rows
    addLabels(rows)
    themes = new Set(rows.filter((row) => typeOf(row.npm_name) === pluginTypes.theme).map((row) => shortName(row.npm_name)))
    return rows
  }

  async function unpacked(plugin: Pick<PluginRow, 'npm_name' | 'version' | 'integrity'>): Promise<string> {
    const target = join(packages(), folderName(plugin))
    const there = await realFolder(target)
    if (there !== undefined) return there
    const [row] = await db.query<{ archive: Buffer }>(
      'select archive from plugin where npm_name = $1 and integrity = $2 and archive is not null',
      [plugin.npm_name, plugin.integrity],
    )
    if (!row) throw notFound('There is nothing here.')
    await verifyIntegrity(row.archive, plugin.integrity)
    await mkdir(packages(), { recursive: true })
    const unfinished = await mkdtemp(join(packages(), UNFINISHED))
    try {
      await unpack(row.archive, unfinished)
      await rename(unfinished, target).catch(async (error: unknown) => {
        // Another process was faster.
        if ((await realFolder(target)) === undefined) throw error
      })
    } finally {
      await rm(unfinished, { recursive: true, force: true })
    }
    return (await realFolder(target)) ?? target
  }

  /** By name; none while plugins are off. At most a second old; the same array until it is read again. */
  function recent(): Promise<readonly PluginRow[]> {
    return config().plugins.enabled ? kept.get('rows', KEEP_MS, read) : Promise.resolve(NONE)
  }

  return {
    recent,
    /** Without a version, any one. Undefined if it is not enabled. */
    async find({ npmName, version }: { npmName: string; version?: string | undefined }): Promise<PluginRow | undefined> {
      return (await recent()).find((row) => row.npm_name === npmName && (version === undefined || row.version === version))
    },
    /** The result of the last `recent`. */
    current(): readonly PluginRow[] {
      return current
    },
    /** True for an enabled theme, as of the last `recent`. */
    hasTheme(name: string): boolean {
      return themes.has(name)
    },

    /** The real path of the folder with the plugin's files, which is unpacked if it is missing. Throws `not_found`. */
    async folderOf(plugin: Pick<PluginRow, 'npm_name' | 'version' | 'integrity'>): Promise<string> {
      const name = folderName(plugin)
      const running = unpacking.get(name) ?? unpacked(plugin)
      unpacking.set(name, running)
      try {
        return await running
      } finally {
        unpacking.delete(name)
      }
    },

    /** Calls the listener after a change of a plugin, or of its settings; may miss some. */
    onChange(listener: (npmName: string, what: 'plugin' | 'settings') => void): () => void {
      return bus.subscribe(PLUGINS_TOPIC, (payload) => {
        if (typeof payload === 'object' && payload !== null && 'npmName' in payload)
          listener(String(payload.npmName), 'settings' in payload ? 'settings' : 'plugin')
      })
    },
    close(): void {
      unsubscribe()
      // Labels are those of the whole process.
      addLabels([])
    },
  }
}

function addLabels(rows: readonly PluginRow[]): void {
  for (const kind of ['category', 'licence', 'language'] as const) {
    setAddedLabels(kind, Object.assign({}, ...rows.map(({ declared }) => declared?.constants[kind].added)))
  }
}

const UNFINISHED = 'unfinished-'

/** The same version may be installed from another folder. */
const folderName = ({ npm_name, version, integrity }: Pick<PluginRow, 'npm_name' | 'version' | 'integrity'>): string =>
  `${npm_name}-${version}-${Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex').slice(0, 16)}`
