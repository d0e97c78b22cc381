// The command line: common options, errors, and the exit code. Each family of commands has a file.

import { Command, CommanderError } from 'commander'
import { ConfigError, loadConfig } from '../config/index.ts'
import { blocklistCommands } from './blocklist.ts'
import { configCommands } from './check-config.ts'
import { doctorCommands } from './doctor.ts'
import { type CliContext, collect, type Family } from './family.ts'
import { jobCommands } from './jobs.ts'
import { migrateCommands } from './migrate.ts'
import { makeOutput, UsageError } from './output.ts'
import { pluginCommands } from './plugins.ts'
import { runnerCommands } from './runner.ts'
import { serverCommands } from './serve.ts'
import { storageCommands } from './storage.ts'
import { thumbnailCommands } from './thumbnails.ts'
import { updateHostCommands } from './update-host.ts'
import { userCommands } from './users.ts'

const families: readonly Family[] = [
  serverCommands,
  runnerCommands,
  userCommands,
  storageCommands,
  configCommands,
  jobCommands,
  doctorCommands,
  migrateCommands,
  thumbnailCommands,
  blocklistCommands,
  updateHostCommands,
  pluginCommands,
]

/** Exit codes: success; failure or a found problem; wrong usage. */
const EXIT = { done: 0, failed: 1, usage: 2 } as const

/** Runs one command; returns the exit code. Errors go to standard error. */
export async function cli(argv: string[], context: CliContext): Promise<number> {
  let exitCode: number = EXIT.done
  const out = makeOutput({ json: argv.includes('--json') })
  const program = new Command('vireo')
    .description('A federated video server')
    .option('--config <file>', 'a configuration file; may be repeated, later ones win', collect, [])
    .option('--json', 'answer with one JSON document')
    .addHelpText('after', '\nExit codes: 0 done, 1 failed or a problem was found, 2 wrong usage.')
    .exitOverride()
    .configureOutput({ writeErr: (text) => out.complain('usage', [text.trimEnd()]) })
  const load = () => loadConfig({ files: program.opts<{ config: string[] }>().config, ...context })
  const exitWith = (code: number) => {
    exitCode = code
  }
  for (const family of families) family({ ...context, program, out, load, exitWith })

  try {
    await program.parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
    const isUsage = error instanceof UsageError
    out.complain(isUsage ? 'usage' : 'failed', linesOf(error))
    return isUsage ? EXIT.usage : EXIT.failed
  }
}

const linesOf = (error: unknown): string[] =>
  error instanceof ConfigError ? error.message.split('\n') : [error instanceof Error ? error.message : String(error)]
