// Limits of the fields of an archive, the same as for users' input. An invalid required field refuses the item; other invalid fields are
// left out.

import { z } from 'zod'
import { isReadable } from '../../platform/readable.ts'
import { DomainError } from '../runtime/index.ts'
import type { ImportDeps } from './import-deps.ts'

const LARGEST_INTEGER = 2_147_483_647

export const name = (min: number, max: number) => z.string().min(min).max(max).refine(isReadable)

/** Null if it is invalid. */
export const textOrNull = (min: number, max: number) =>
  z
    .string()
    .min(min)
    .max(max)
    .nullish()
    .catch(null)
    .transform((text) => text ?? null)

/** A key of a table of labels; null if it is unknown. */
export const labelOrNull = <T extends string | number>(labels: Readonly<Record<T, string>>, type: z.ZodType<T>) =>
  type
    .refine((key) => Object.hasOwn(labels, key))
    .nullish()
    .catch(null)
    .transform((key) => key ?? null)

/** The valid elements, without duplicates. */
export const fitting = (schema: z.ZodType<string>, most: number) =>
  z
    .array(z.unknown())
    .transform((texts) => [
      ...new Set(
        texts.flatMap((text) => {
          const { success, data } = schema.safeParse(text)
          return success ? [data] : []
        }),
      ),
    ])
    .transform((texts) => texts.slice(0, most))

/** Whole seconds from the start; undefined if it is invalid. */
export function secondsOf(value: number | null | undefined): number | undefined {
  if (value === null || value === undefined || !Number.isFinite(value)) return undefined
  const whole = Math.floor(value)
  return whole >= 0 && whole <= LARGEST_INTEGER ? whole : undefined
}

/** Throws `invalid` unless the item matches the schema. */
export function readItem<S extends z.ZodType>(schema: S, item: unknown): z.output<S> {
  const { success, data, error } = schema.safeParse(item)
  if (success) return data
  throw new DomainError('invalid', 'This cannot be imported.', { cause: error })
}

const HANDLE_NAME = /^[a-z0-9_.-]{1,200}$/i

/** `name@host`, or `name` for this server; undefined if it is invalid. */
export function readHandle(
  text: string,
  { isHost, urls }: Pick<ImportDeps, 'isHost' | 'urls'>,
): { name: string; host: string } | undefined {
  const [name = '', host = urls.host, ...others] = text.replace(/^@/, '').split('@', 4)
  if (!HANDLE_NAME.test(name) || others.length > 0 || !(host === urls.host || isHost(host))) return undefined
  return { name, host: host.toLowerCase() }
}
