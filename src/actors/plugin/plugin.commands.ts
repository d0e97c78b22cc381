// Plugins and themes: installed from the registry or from a folder, updated, switched on and off, configured, uninstalled. Machine `plugin`.

import { stat } from 'node:fs/promises'
import { type Aliased, type Columns, isUniqueViolation, type Sql } from '../../platform/database/index.ts'
import type { Passwords } from '../../platform/passwords.ts'
import { initialPlugin, type PluginEvent, pluginMachine } from '../../state-machines/plugin.ts'
import { queueMail } from '../mail/index.ts'
import { type ActorDeps, advanceRow, DomainError, defineLifecycle, type GuessLimits, notFound, type Unit } from '../runtime/index.ts'
import type { Declared } from './declared.ts'
import { type Package, packFolder, readPackage } from './package.ts'
import type { Plugin } from './plugin.entity.ts'
import { findPlugin, findPluginSettings, type PluginRow } from './plugin.queries.ts'
import type { PluginRegistry } from './registry.ts'

/** Names of the plugins that changed. */
export const PLUGINS_TOPIC = 'plugins'

export type Settings = Record<string, unknown>

/** The administrator's own password, asked again; undefined for the command line. */
export type Confirmation = { userId: number; currentPassword: string | undefined } | undefined

/** Characters of the stored settings of one plugin. */
const LONGEST_SETTINGS = 200_000
const LONGEST_FAILURE = 1000

export type Plugins = ReturnType<typeof makePlugins>

/** All throw `not_found` for a plugin that is not installed, but `install`. */
export function makePlugins(
  deps: ActorDeps & { packages: Pick<PluginRegistry, 'download'>; passwords: Pick<Passwords, 'verify'>; guesses: GuessLimits },
) {
  const { db, tell, config, secrets, packages, passwords, guesses } = deps

  function refuseWhileOff(): void {
    if (!config().plugins.enabled) throw new DomainError('invalid', 'Plugins are off on this server: `plugins.enabled` switches them on.')
  }

  /** New code on the server: a stolen token alone must not be enough. */
  async function confirm(by: Confirmation): Promise<void> {
    if (!by) return
    const { userId, currentPassword } = by
    if (!currentPassword)
      throw new DomainError('invalid', 'currentPassword is missing: installing needs the password of the administrator.')
    const [user] = await db.query<{ hash: string }>('select password_hash as hash from users where id = $1', [userId])
    await guesses.check(`password:${userId}`, async () => {
      if (user && (await passwords.verify(user.hash, currentPassword))) return
      throw new DomainError('forbidden', 'currentPassword is invalid.', { code: 'current_password_is_invalid' })
    })
  }

  async function store({ archive, integrity, manifest }: Package): Promise<void> {
    const { name, version } = manifest
    const columns = { version, manifest, integrity, archive, failure: null, latestVersion: null, declared: null }
    const known = await findPlugin(db, name)
    if (!known) return await create(columns, name)
    await tell({ aggregate: 'plugin', id: known.id }, async (unit) => {
      const row = await lockedRow(unit, known.id)
      if (row.state !== 'uninstalled') return await move(unit, row, { type: 'UPDATED' }, columns)
      await move(unit, row, { type: 'INSTALLED' }, columns)
      await move(unit, { ...row, state: 'installed' }, { type: 'ENABLED' })
    })
  }

  async function create({ version, manifest, integrity, archive }: Package & { version: string }, name: string): Promise<void> {
    try {
      await tell.create(async (unit) => {
        const [row] = await unit.query<Columns<typeof Plugin, 'id'>>(
          `insert into plugin (npm_name, state, version, manifest, integrity, archive, created_at, updated_at)
           values ($1, $2, $3, $4, $5, $6, $7, $7) returning id`,
          [name, initialPlugin.state, version, JSON.stringify(manifest), integrity, archive, unit.now],
        )
        if (!row) return
        unit.created({ aggregate: 'plugin', id: row.id })
        await move(unit, { id: row.id, npmName: name, state: initialPlugin.state }, { type: 'ENABLED' })
      })
    } catch (error) {
      if (isUniqueViolation(error))
        throw new DomainError('conflict', 'This plugin is being installed by another request.', { cause: error })
      throw error
    }
  }

  async function installed(npmName: string): Promise<PluginRow> {
    const known = await findPlugin(db, npmName)
    if (!known || known.state === 'uninstalled') throw unknownPlugin()
    return known
  }

  async function change(npmName: string, event: PluginEvent, also: Parameters<typeof move>[3] = {}): Promise<void> {
    const { id } = await installed(npmName)
    await tell({ aggregate: 'plugin', id }, async (unit) => move(unit, await lockedRow(unit, id), event, also))
  }

  async function readSettings(query: Sql, npmName: string): Promise<Settings> {
    const { sealed = null } = (await findPluginSettings(query, npmName)) ?? {}
    return sealed === null ? {} : (JSON.parse(secrets.open(sealed)) as Settings)
  }

  async function storeSettings(unit: Unit, id: number, npmName: string, settings: Settings): Promise<void> {
    const text = JSON.stringify(settings)
    if (text.length > LONGEST_SETTINGS) throw new DomainError('too_large', 'The settings of a plugin have at most 200,000 characters.')
    await unit.query('update plugin set settings_sealed = $2, updated_at = $3 where id = $1', [id, secrets.seal(text), unit.now])
    unit.publish(PLUGINS_TOPIC, { npmName, settings: true })
  }

  async function replace(npmName: string, version: string | undefined): Promise<void> {
    const archive = await packages.download(npmName, version)
    const read = await readPackage(archive)
    if (read.manifest.name !== npmName || (version !== undefined && read.manifest.version !== version)) {
      throw new DomainError('unprocessable', 'The package has another name or version than the registry says.')
    }
    await store(read)
  }

  return {
    /**
     * Installs and enables a version, or the latest one; it replaces another one. Throws `invalid` while plugins are off and without the
     * password, `forbidden` (`current_password_is_invalid`) for a wrong one, and what the registry and the package throw.
     */
    async install(npmName: string, version: string | undefined, by: Confirmation): Promise<void> {
      refuseWhileOff()
      await confirm(by)
      await replace(npmName, version)
    },

    /** The same from a folder of this machine. Returns the name. */
    async installFolder(folder: string): Promise<string> {
      refuseWhileOff()
      const isFolder = await stat(folder).then(
        (found) => found.isDirectory(),
        () => false,
      )
      if (!isFolder) throw new DomainError('invalid', `There is no folder ${folder}.`)
      const read = await readPackage(await packFolder(folder))
      await store(read)
      return read.manifest.name
    },

    /** Like `install`, for what is installed. */
    async update(npmName: string, version: string | undefined, by: Confirmation): Promise<void> {
      await installed(npmName)
      refuseWhileOff()
      await confirm(by)
      await replace(npmName, version)
    },

    /** Keeps the settings and what it stored. */
    uninstall(npmName: string): Promise<void> {
      return change(npmName, { type: 'UNINSTALLED' }, { archive: null, failure: null, declared: null })
    },
    enable(npmName: string): Promise<void> {
      return change(npmName, { type: 'ENABLED' }, { failure: null })
    },
    disable(npmName: string): Promise<void> {
      return change(npmName, { type: 'DISABLED' }, { failure: null })
    },
    /** Switches a plugin off that fails again and again, and notifies the administrator. */
    async fail(npmName: string, reason: string): Promise<void> {
      const { id } = await installed(npmName)
      await tell({ aggregate: 'plugin', id }, async (unit) => {
        await move(unit, await lockedRow(unit, id), { type: 'FAILED' }, { failure: reason.slice(0, LONGEST_FAILURE) })
        queueMail(unit, { mail: 'plugin-failed', pluginId: id })
      })
    },

    /** Replaces the settings. Throws `too_large`. */
    async changeSettings(npmName: string, settings: Settings): Promise<void> {
      const { id } = await installed(npmName)
      await tell({ aggregate: 'plugin', id }, async (unit) => {
        await storeSettings(unit, id, npmName, settings)
        unit.note({
          domain: 'plugins',
          action: 'update',
          id,
          entity: { npmName, settings: Object.keys(settings).join(', ').slice(0, LONGEST_FAILURE) },
        })
      })
    },

    /** One setting, by the plugin itself. Throws `too_large`. */
    async setSetting(npmName: string, name: string, value: unknown): Promise<void> {
      const { id } = await installed(npmName)
      await tell({ aggregate: 'plugin', id }, async (unit) => {
        const settings = await readSettings(unit.query, npmName)
        await storeSettings(unit, id, npmName, { ...settings, [name]: value })
      })
    },

    /** Empty if nothing is set. */
    settings(npmName: string): Promise<Settings> {
      return readSettings(db.query, npmName)
    },

    /** What its code offers. */
    async declare(npmName: string, declared: Declared): Promise<void> {
      const { id } = await installed(npmName)
      await tell({ aggregate: 'plugin', id }, async (unit) => {
        const changed = await unit.query(
          'update plugin set declared = $2 where id = $1 and declared is distinct from $2::jsonb returning id',
          [id, JSON.stringify(declared)],
        )
        if (changed.length > 0) unit.publish(PLUGINS_TOPIC, { npmName })
      })
    },
  }
}

type LockedPlugin = Aliased<typeof Plugin, 'id' | 'npmName' | 'state'>

async function lockedRow(unit: Unit, id: number): Promise<LockedPlugin> {
  const [row] = await unit.query<LockedPlugin>('select id, npm_name as "npmName", state from plugin where id = $1', [id])
  if (!row) throw unknownPlugin()
  return row
}

/** Whoever uses the plugin is notified. */
async function move(
  unit: Unit,
  row: LockedPlugin,
  event: PluginEvent,
  also: Partial<Record<'version' | 'manifest' | 'integrity' | 'archive' | 'failure' | 'latestVersion' | 'declared', unknown>> = {},
): Promise<void> {
  await advanceRow(unit, pluginLifecycle, row, event, also)
  unit.publish(PLUGINS_TOPIC, { npmName: row.npmName })
}

const pluginLifecycle = defineLifecycle({ table: 'plugin', machine: pluginMachine, initial: initialPlugin })

export const unknownPlugin = (): DomainError => notFound('Plugin not found')
