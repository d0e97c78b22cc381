// Plugins for the command line, whose changes are in the audit log too.

import type { Database } from '../../platform/database/index.ts'
import type { Audit } from '../audit/index.ts'
import { userRoles } from '../user/index.ts'
import type { Plugins } from './plugin.commands.ts'
import { listPlugins, type PluginRow } from './plugin.queries.ts'

export interface PluginOperator {
  /** From the registry. Throws like `Plugins`, as the others do. */
  install(npmName: string, version: string): Promise<void>
  /** Returns the name. */
  installFolder(folder: string): Promise<string>
  uninstall(npmName: string): Promise<void>
  enable(npmName: string): Promise<void>
  disable(npmName: string): Promise<void>
  list(): Promise<PluginRow[]>
}

const OPERATOR = { id: 0, username: 'command line', role: userRoles.administrator }

export function makePluginOperator({
  db,
  plugins,
  audit,
}: {
  db: Pick<Database, 'query'>
  plugins: Plugins
  audit: Pick<Audit, 'as'>
}): PluginOperator {
  const audited = <T>(work: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => audit.as(OPERATOR, () => void work().then(resolve, reject)))

  return {
    install: (npmName, version) => audited(() => plugins.install(npmName, version, undefined)),
    installFolder: (folder) => audited(() => plugins.installFolder(folder)),
    uninstall: (npmName) => audited(() => plugins.uninstall(npmName)),
    enable: (npmName) => audited(() => plugins.enable(npmName)),
    disable: (npmName) => audited(() => plugins.disable(npmName)),
    async list() {
      const all = { start: 0, count: Number.MAX_SAFE_INTEGER, sort: { by: 'name', descending: false } } as const
      return (await listPlugins(db, { ...all, uninstalled: false })).rows
    },
  }
}
