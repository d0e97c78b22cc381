// The command line: `vireo serve` and the operator's commands.

import { join } from 'node:path'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { ConfigError, loadConfig } from '../config/index.ts'
import { stopEmbeddedPostgres } from '../platform/embedded-postgres.ts'
import { type Role, roles } from '../runtime-settings.ts'
import { serve } from './serve.ts'

export interface CliContext {
  env: Record<string, string | undefined>
  cwd: string
}

/** Runs one command; answers the exit code. What goes wrong is said in one line on standard error. */
export async function cli(argv: string[], context: CliContext): Promise<number> {
  let exitCode = 0
  const program = new Command('vireo')
    .description('A federated video server')
    .option('--config <file>', 'a configuration file; may be repeated, later ones win', collect, [])
    .exitOverride()
  const load = () => loadConfig({ files: program.opts<{ config: string[] }>().config, ...context })

  program
    .command('serve', { isDefault: true })
    .description('run the server until it is told to end')
    .option('--roles <list>', `which parts to run: ${roles.join(', ')}`, parseRoles, [...roles])
    .option('--config <file>', 'a configuration file; may be repeated, later ones win', collect, [])
    .action(async (options: { roles: Role[]; config: string[] }) => {
      const files = [...program.opts<{ config: string[] }>().config, ...options.config]
      exitCode = await serve({ loaded: loadConfig({ files, ...context }), roles: options.roles, env: context.env })
    })
  program
    .command('stop')
    .description('end the embedded PostgreSQL that a killed server left behind')
    .action(async () => {
      const pid = await stopEmbeddedPostgres({ dataDir: join(load().dataDir, 'postgres') })
      console.log(pid === undefined ? 'No embedded PostgreSQL runs.' : `Ended the embedded PostgreSQL (pid ${pid}).`)
    })
  program
    .command('check-config')
    .description('say what is wrong with the configuration, and change nothing')
    .action(() => {
      for (const warning of load().warnings) console.warn(warning)
      console.log('The configuration is valid.')
    })

  try {
    await program.parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode
    for (const line of linesOf(error)) console.error(line)
    return 1
  }
}

const collect = (value: string, before: string[]): string[] => [...before, value]

function parseRoles(list: string): Role[] {
  return list.split(',').map((name) => {
    const role = roles.find((known) => known === name.trim())
    if (!role) throw new InvalidArgumentError(`"${name}" is none of ${roles.join(', ')}.`)
    return role
  })
}

const linesOf = (error: unknown): string[] =>
  error instanceof ConfigError ? error.message.split('\n') : [error instanceof Error ? error.message : String(error)]
