// `vireo plugin`: installs, switches and lists plugins and themes.

import { EXACT_VERSION, NPM_NAME } from '../actors/plugin/index.ts'
import type { Tools } from './family.ts'
import { operate } from './operate.ts'
import { UsageError } from './output.ts'

export function pluginCommands({ program, load, out }: Tools): void {
  const plugin = program.command('plugin').description('plugins and themes')

  plugin
    .command('install <source>')
    .description('install from a folder of this machine, or NAME@VERSION from the registry; also to update')
    .action(async (source: string) => {
      const name = await operate(load(), async ({ plugins }) => {
        const [npmName = '', version = '', ...rest] = source.split('@')
        if (!NPM_NAME.test(npmName)) return await plugins.installFolder(source)
        if (!EXACT_VERSION.test(version) || rest.length > 0) throw new UsageError('Give an exact version: NAME@1.2.3.')
        await plugins.install(npmName, version)
        return npmName
      })
      out.answer({ installed: name }, `${name} is installed and enabled.`)
    })

  for (const act of ['uninstall', 'enable', 'disable'] as const) {
    plugin
      .command(`${act} <name>`)
      .description(
        { uninstall: 'uninstall; settings stay', enable: 'switch on, also one that failed', disable: 'switch off, and keep it' }[act],
      )
      .action(async (name: string) => {
        await operate(load(), ({ plugins }) => plugins[act](name))
        out.answer({ [act]: name }, `${name}: ${act} is done.`)
      })
  }

  plugin
    .command('list')
    .description('list the installed plugins and themes')
    .action(async () => {
      const rows = await operate(load(), ({ plugins }) => plugins.list())
      out.answer(
        { plugins: rows.map(({ npm_name: name, version, state, failure }) => ({ name, version, state, failure })) },
        rows.length === 0
          ? 'None is installed.'
          : rows.map((row) => `${row.npm_name} ${row.version} ${row.state}${row.failure ? `: ${row.failure}` : ''}`),
      )
    })
}
