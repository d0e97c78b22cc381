// Plugins as administrators see them.

import { z } from 'zod'
import { type PluginRow, pluginTypes, type RegisteredSetting, type Settings, shortName, typeOf } from '../../actors/plugin/index.ts'

const date = z.iso.datetime()
const type = z.enum(pluginTypes)
const value = z.union([z.string(), z.number(), z.boolean(), z.null()])
export const settingValues = z.record(z.string().min(1).max(200), value)

const MOST_SETTINGS = 500
export const settingsBody = z.object({
  settings: z
    .looseObject({})
    .refine(
      (settings) => Object.keys(settings).length <= MOST_SETTINGS && settingValues.safeParse(settings).success,
      'Should have texts, numbers, booleans or null by name',
    ),
})

export const pluginView = z
  .object({
    name: z.string(),
    type,
    version: z.string(),
    latestVersion: z.string().nullable(),
    enabled: z.boolean(),
    uninstalled: z.boolean(),
    peertubeEngine: z.string(),
    description: z.string(),
    homepage: z.string(),
    settings: settingValues,
    /** Why it was switched off. */
    failure: z.string().nullable(),
    createdAt: date,
    updatedAt: date,
  })
  .meta({ id: 'Plugin' })

export const toPluginView = (row: PluginRow, settings: Settings): z.infer<typeof pluginView> => ({
  name: shortName(row.npm_name),
  type: typeOf(row.npm_name),
  version: row.version,
  latestVersion: row.latest_version,
  enabled: row.state === 'enabled',
  uninstalled: row.state === 'uninstalled',
  peertubeEngine: row.manifest.engine.peertube,
  description: row.manifest.description,
  homepage: row.manifest.homepage,
  settings: settingValues.parse(settings),
  failure: row.failure,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})

export const indexedView = z
  .object({
    npmName: z.string(),
    name: z.string(),
    type,
    description: z.string(),
    homepage: z.string(),
    createdAt: date,
    updatedAt: date,
    popularity: z.number(),
    latestVersion: z.string(),
    official: z.boolean(),
    recommended: z.boolean(),
    installed: z.boolean(),
  })
  .meta({ id: 'IndexedPlugin' })

export const registeredSettingsView = z.object({ registeredSettings: z.array(z.looseObject({})) })
export const publicSettingsView = z.object({ publicSettings: settingValues })

/** Those that the plugin has declared to be public. */
export function publicSettings(registered: readonly RegisteredSetting[], settings: Settings): Settings {
  const isPublic = registered.filter((one) => one.private === false && one.name !== undefined)
  return Object.fromEntries(isPublic.map(({ name = '', default: initial = null }) => [name, settings[name] ?? initial]))
}
