// Plugins for the command line, whose changes are in the audit log too.

import type { Database } from '../../platform/database/index.ts'
import type { Audit } from '../audit/index.ts'
import { userRoles } from '../user/index.ts'
import type { Plugins } from './plugin.commands.ts'
import { listPlugins, type PluginRow } from './plugin.queries.ts'

const OPERATOR = { id: 0, username: 'command line', role: userRoles.administrator }

export type PluginOperator = ReturnType<typeof makePluginOperator>

export function makePluginOperator({ db, plugins, audit }: { db: Pick<Database, 'query'>; plugins: Plugins; audit: Pick<Audit, 'as'> }) {
  const audited = <T>(work: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => audit.as(OPERATOR, () => void work().then(resolve, reject)))

  return {
    /** From the registry. Throws like `Plugins`, as the others do. */
    install(npmName: string, version: string): Promise<void> {
      return audited(() => plugins.install(npmName, version, undefined))
    },
    /** Returns the name. */
    installFolder(folder: string): Promise<string> {
      return audited(() => plugins.installFolder(folder))
    },
    uninstall(npmName: string): Promise<void> {
      return audited(() => plugins.uninstall(npmName))
    },
    enable(npmName: string): Promise<void> {
      return audited(() => plugins.enable(npmName))
    },
    disable(npmName: string): Promise<void> {
      return audited(() => plugins.disable(npmName))
    },
    async list(): Promise<PluginRow[]> {
      const all = { start: 0, count: Number.MAX_SAFE_INTEGER, sort: { by: 'name', descending: false } } as const
      return (await listPlugins(db, { ...all, uninstalled: false })).rows
    },
  }
}
