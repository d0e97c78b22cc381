// What each file of commands gets: the program, the configuration, and the output.

import { type Command, InvalidArgumentError } from 'commander'
import type { z } from 'zod'
import type { LoadedConfig } from '../config/index.ts'
import { LARGEST_ID } from '../platform/ids.ts'
import type { Output } from './output.ts'

export interface CliContext {
  env: Record<string, string | undefined>
  cwd: string
}

export interface Tools extends CliContext {
  program: Command
  out: Output
  /** Throws ConfigError. */
  load(): LoadedConfig
  /** For commands whose result is itself a problem. */
  exitWith(code: number): void
}

/** Adds its commands to the program. */
export type Family = (tools: Tools) => void

export const collect = (value: string, before: string[]): string[] => [...before, value]

export const parseWith =
  (schema: z.ZodType<string>) =>
  (text: string): string => {
    const { data, error } = schema.safeParse(text)
    if (error) throw new InvalidArgumentError(error.issues.map(({ message }) => message).join(' '))
    return data
  }

export function collectId(text: string, before: number[]): number[] {
  if (!/^[1-9]\d{0,9}$/.test(text) || Number(text) > LARGEST_ID) throw new InvalidArgumentError('It is the number of a video.')
  return [...before, Number(text)]
}

export function positive(text: string): number {
  const number = Number(text)
  if (!(number > 0 && Number.isFinite(number))) throw new InvalidArgumentError('It is a number above 0.')
  return number
}

/** Parses one of `names`. */
export const oneOf =
  <Name extends string>(names: readonly Name[]) =>
  (text: string): Name => {
    const name = names.find((known) => known === text.trim())
    if (name === undefined) throw new InvalidArgumentError(`"${text}" is none of ${names.join(', ')}.`)
    return name
  }
