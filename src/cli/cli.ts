// The command line: `vireo serve` and the operator's commands.

import { join } from 'node:path'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import type { z } from 'zod'
import { type UserRole, userRoles } from '../actors/user/index.ts'
import { ConfigError, loadConfig } from '../config/index.ts'
import { emailAddress, localName } from '../http/users/fields.ts'
import { type Place, places } from '../media/index.ts'
import { stopEmbeddedPostgres } from '../platform/embedded-postgres.ts'
import { LARGEST_ID } from '../platform/ids.ts'
import { type Role, roles } from '../runtime-settings.ts'
import { addJobs } from './jobs.ts'
import { operate } from './operate.ts'
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
    .configureOutput({ writeErr: (text) => console.error(text.trimEnd()) })
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
    .command('create-user')
    .description('make a user, and print the password')
    .requiredOption('--username <name>', 'small letters, digits, _ . and -', parseWith(localName))
    .requiredOption('--email <address>', 'where mails to the user go', parseWith(emailAddress))
    .option('--role <role>', Object.keys(userRoles).join(', '), parseRole, userRoles.user)
    .action(async (user: { username: string; email: string; role: UserRole }) => {
      await operate(load(), async (operator) => console.log(`User password: ${await operator.createUser(user)}`))
    })
  program
    .command('reset-password')
    .description('give a user a new password, and print it; ends the sessions of the user')
    .requiredOption('--username <name>')
    .action(async ({ username }: { username: string }) => {
      await operate(load(), async (operator) => console.log(`User password: ${await operator.resetPassword(username)}`))
    })
  program
    .command('move-storage')
    .description(
      'move what is stored to where new files go: jobs of the running server do it, and may be asked for again',
    )
    .requiredOption('--to <place>', places.join(' or '), parsePlace)
    .option('--video <id>', 'this video alone; may be repeated', collectId, [])
    .action(async ({ to, video }: { to: Place; video: number[] }) => {
      await operate(load(), async (operator) => {
        const { videos, left } = await operator.moveStorage({ to, ...(video.length > 0 ? { videoIds: video } : {}) })
        console.log(
          `Asked for the move of ${videos} ${videos === 1 ? 'video' : 'videos'}${video.length > 0 ? '' : ' and of all other files'}.`,
        )
        if (left.length === 0) return
        console.log('Videos whose transcoding failed stay where they are. Transcode or remove them, then ask again:')
        for (const uuid of left) console.log(uuid)
      })
    })
  addJobs(program, load)
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

const parseWith =
  (schema: z.ZodType<string>) =>
  (text: string): string => {
    const { data, error } = schema.safeParse(text)
    if (error) throw new InvalidArgumentError(error.issues.map(({ message }) => message).join(' '))
    return data
  }

function collectId(text: string, before: number[]): number[] {
  if (!/^[1-9]\d{0,9}$/.test(text) || Number(text) > LARGEST_ID)
    throw new InvalidArgumentError('It is the number of a video.')
  return [...before, Number(text)]
}

function parsePlace(name: string): Place {
  const place = places.find((known) => known === name)
  if (!place) throw new InvalidArgumentError(`"${name}" is neither ${places.join(' nor ')}.`)
  return place
}

function parseRole(name: string): UserRole {
  const role = Object.entries(userRoles).find(([known]) => known === name)?.[1]
  if (role === undefined) throw new InvalidArgumentError(`"${name}" is none of ${Object.keys(userRoles).join(', ')}.`)
  return role
}

function parseRoles(list: string): Role[] {
  return list.split(',').map((name) => {
    const role = roles.find((known) => known === name.trim())
    if (!role) throw new InvalidArgumentError(`"${name}" is none of ${roles.join(', ')}.`)
    return role
  })
}

const linesOf = (error: unknown): string[] =>
  error instanceof ConfigError ? error.message.split('\n') : [error instanceof Error ? error.message : String(error)]
