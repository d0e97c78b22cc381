// A plugin or theme: installed, switched on and off, failed, uninstalled.

import { setup } from 'xstate'
import type { Snapshot, StateMeta } from './step.ts'

export type PluginState = 'installed' | 'enabled' | 'failed' | 'uninstalled'
export type PluginContext = Record<string, never>

export type PluginEvent =
  | { type: 'ENABLED' }
  | { type: 'DISABLED' }
  /** Its process fails again and again. */
  | { type: 'FAILED' }
  /** Another package replaces its files. */
  | { type: 'UPDATED' }
  | { type: 'UNINSTALLED' }
  /** After it was uninstalled: its settings are still there. */
  | { type: 'INSTALLED' }

export const initialPlugin: Snapshot<PluginState, PluginContext> = { state: 'installed', context: {} }

export const pluginMachine = setup({
  types: { context: {} as PluginContext, events: {} as PluginEvent, meta: {} as StateMeta },
}).createMachine({
  id: 'plugin',
  context: initialPlugin.context,
  initial: 'installed',
  states: {
    installed: {
      meta: { owner: 'an administrator switches it on' },
      on: { ENABLED: { target: 'enabled' }, UPDATED: { target: 'installed' }, UNINSTALLED: { target: 'uninstalled' } },
    },
    enabled: {
      meta: { owner: 'an administrator, or the breaker of its process' },
      on: {
        DISABLED: { target: 'installed' },
        FAILED: { target: 'failed' },
        UPDATED: { target: 'enabled' },
        UNINSTALLED: { target: 'uninstalled' },
      },
    },
    failed: {
      meta: { owner: 'an administrator switches it on again, or updates it' },
      on: {
        ENABLED: { target: 'enabled' },
        DISABLED: { target: 'installed' },
        UPDATED: { target: 'enabled', description: 'the new version may work' },
        UNINSTALLED: { target: 'uninstalled' },
      },
    },
    uninstalled: { meta: { end: true }, on: { INSTALLED: { target: 'installed' } } },
  },
})
