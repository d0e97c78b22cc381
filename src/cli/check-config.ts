// `vireo check-config`.

import type { Tools } from './family.ts'

export function configCommands({ program, load, out }: Tools): void {
  program
    .command('check-config')
    .description('say what is wrong with the configuration, and change nothing')
    .action(() => {
      const { warnings, sources, publicUrl } = load()
      for (const warning of warnings) out.note(warning)
      out.answer({ valid: true, warnings, sources, publicUrl }, 'The configuration is valid.')
    })
}
