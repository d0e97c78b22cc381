// Every move of the machine `plugin`.

import { initialPlugin, pluginMachine } from '../../../src/state-machines/plugin.ts'
import { defineTable } from './table.ts'

export const table = defineTable({
  machine: pluginMachine,
  starts: ['installed'],
  context: initialPlugin.context,
  settings: null,
  rows: [
    { from: 'installed', event: { type: 'ENABLED' }, to: 'enabled' },
    { from: 'installed', event: { type: 'DISABLED' }, to: 'illegal' },
    { from: 'installed', event: { type: 'FAILED' }, to: 'illegal' },
    { from: 'installed', event: { type: 'UPDATED' }, to: 'installed' },
    { from: 'installed', event: { type: 'UNINSTALLED' }, to: 'uninstalled' },
    { from: 'installed', event: { type: 'INSTALLED' }, to: 'illegal' },

    { from: 'enabled', event: { type: 'ENABLED' }, to: 'illegal' },
    { from: 'enabled', event: { type: 'DISABLED' }, to: 'installed' },
    { from: 'enabled', event: { type: 'FAILED' }, to: 'failed' },
    { from: 'enabled', event: { type: 'UPDATED' }, to: 'enabled' },
    { from: 'enabled', event: { type: 'UNINSTALLED' }, to: 'uninstalled' },
    { from: 'enabled', event: { type: 'INSTALLED' }, to: 'illegal' },

    { from: 'failed', event: { type: 'ENABLED' }, to: 'enabled' },
    { from: 'failed', event: { type: 'DISABLED' }, to: 'installed' },
    { from: 'failed', event: { type: 'FAILED' }, to: 'illegal' },
    { from: 'failed', event: { type: 'UPDATED' }, to: 'enabled' },
    { from: 'failed', event: { type: 'UNINSTALLED' }, to: 'uninstalled' },
    { from: 'failed', event: { type: 'INSTALLED' }, to: 'illegal' },

    { from: 'uninstalled', event: { type: 'ENABLED' }, to: 'illegal' },
    { from: 'uninstalled', event: { type: 'DISABLED' }, to: 'illegal' },
    { from: 'uninstalled', event: { type: 'FAILED' }, to: 'illegal' },
    { from: 'uninstalled', event: { type: 'UPDATED' }, to: 'illegal' },
    { from: 'uninstalled', event: { type: 'UNINSTALLED' }, to: 'illegal' },
    { from: 'uninstalled', event: { type: 'INSTALLED' }, to: 'installed' },
  ],
  dues: [
    { state: 'installed', ms: null },
    { state: 'enabled', ms: null },
    { state: 'failed', ms: null },
    { state: 'uninstalled', ms: null },
  ],
})
