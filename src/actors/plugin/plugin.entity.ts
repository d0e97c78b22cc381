// Plugins and themes (machine `plugin`), and what plugins store.

import { defineEntity, p } from '@mikro-orm/postgresql'
import type { PluginState } from '../../state-machines/plugin.ts'
import type { Declared } from './declared.ts'
import type { Manifest } from './manifest.ts'

export const Plugin = defineEntity({
  name: 'Plugin',
  tableName: 'plugin',
  properties: {
    id: p.integer().primary(),
    npmName: p.text(),
    state: p.text().$type<PluginState>(),
    version: p.text(),
    latestVersion: p.text().nullable(),
    manifest: p.json<Manifest>(),
    integrity: p.text(),
    archive: p.blob().nullable().lazy(),
    settingsSealed: p.text().nullable().lazy(),
    /** Null until its process has started once. */
    declared: p.json<Declared>().nullable(),
    failure: p.text().nullable(),
    hostOwner: p.text().nullable(),
    hostUntil: p.datetime(3).nullable(),
    hostAddress: p.text().nullable(),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
})

export const PluginData = defineEntity({
  name: 'PluginData',
  tableName: 'plugin_data',
  properties: {
    pluginId: p.integer().primary(),
    key: p.text().primary(),
    value: p.json<unknown>(),
    updatedAt: p.datetime(3),
  },
})
