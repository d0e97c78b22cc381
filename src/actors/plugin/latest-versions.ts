// Asks the index for newer versions of what is installed, periodically.

import type { Aliased } from '../../platform/database/index.ts'
import type { ActorDeps } from '../runtime/index.ts'
import type { Plugin } from './plugin.entity.ts'
import type { PluginRegistry } from './registry.ts'

export function lookForPluginVersions(deps: ActorDeps & { packages: Pick<PluginRegistry, 'latestVersions'> }): void {
  const { db, tell, registry, config, logger, packages } = deps

  async function note(id: number, latest: string | undefined): Promise<void> {
    if (latest === undefined) return
    await tell({ aggregate: 'plugin', id }, async (unit) => {
      const changed = await unit.query<{ isOther: boolean }>(
        `update plugin set latest_version = $2 where id = $1 and latest_version is distinct from $2 returning version <> $2 as "isOther"`,
        [id, latest],
      )
      if (changed[0]?.isOther) unit.emit({ aggregate: 'plugin', id }, 'NewPluginVersionReleased', { pluginId: id, version: latest })
    })
  }

  registry.periodic('plugin-versions', {
    everyMs: () => config().plugins.index.check_latest_versions_interval,
    async run() {
      const { enabled, index } = config().plugins
      if (!enabled || !index.enabled) return
      const rows = await db.query<Aliased<typeof Plugin, 'id' | 'npmName'>>(
        `select id, npm_name as "npmName" from plugin where state <> 'uninstalled'`,
      )
      if (rows.length === 0) return
      try {
        const latest = await packages.latestVersions(rows.map((row) => row.npmName))
        for (const { id, npmName } of rows) await note(id, latest.get(npmName))
      } catch (error) {
        logger.warn({ err: error }, 'it cannot be known whether there are newer versions of plugins')
      }
    },
  })
}
