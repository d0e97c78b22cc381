// The package.json of a plugin or theme, as far as it is used here. Pure.

import { z } from 'zod'
import { DomainError } from '../runtime/index.ts'

/** `PluginType` of the contract. */
export const pluginTypes = { plugin: 1, theme: 2 } as const
export type PluginType = (typeof pluginTypes)[keyof typeof pluginTypes]

/** `fields.plugin.npmName` of the contract, with what npm itself requires. */
export const NPM_NAME = /^peertube-(?:plugin|theme)-[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?$/
export const LONGEST_NPM_NAME = 214
/** An exact version: `x.y.z`, or with a pre-release. */
export const EXACT_VERSION = /^\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9A-Za-z.-]{1,50})?$/

export const typeOf = (npmName: string): PluginType => (npmName.startsWith('peertube-theme-') ? pluginTypes.theme : pluginTypes.plugin)

/** Without the prefix. */
export const shortName = (npmName: string): string => npmName.replace(/^peertube-(?:plugin|theme)-/, '')

const MOST = 200
const word = z.string().min(1).max(100)
/** A path inside the package, with `/` between its names. */
const path = z
  .string()
  .max(500)
  .transform((text) => text.replace(/^\.?\/+/, '').replace(/\/+$/, ''))
  .refine((text) => text !== '' && text.split('/').every((name) => name !== '' && !name.startsWith('.') && !/[\\:\0]/.test(name)), {
    error: 'Should be a path inside the package',
  })
const few = <T extends z.ZodType>(item: T) => z.array(item).max(MOST).default([])
const byName = <T extends z.ZodType>(value: T) =>
  z
    .record(word, value)
    .refine((map) => Object.keys(map).length <= MOST)
    .default({})

const manifest = z.object({
  name: z.string().max(LONGEST_NPM_NAME).regex(NPM_NAME),
  version: z.string().regex(EXACT_VERSION),
  description: z.string().max(20_000).default(''),
  homepage: z.string().max(500).default(''),
  engine: z.object({ peertube: z.string().max(100) }),
  library: path.optional(),
  css: few(path),
  staticDirs: byName(path),
  clientScripts: few(z.object({ script: path, scopes: z.array(word).max(20) })),
  translations: byName(path),
  dependencies: z.record(z.string(), z.unknown()).default({}),
})

export type Manifest = Omit<z.infer<typeof manifest>, 'dependencies'>

/** Also returns the names of the packages that must be bundled. Throws `unprocessable` with the reason. */
export function readManifest(text: string): { manifest: Manifest; dependencies: string[] } {
  const read = manifest.safeParse(parse(text))
  if (!read.success) {
    const [issue] = read.error.issues
    throw new DomainError(
      'unprocessable',
      `The package.json of the plugin is wrong at ${issue?.path.join('.') || 'its top'}: ${issue?.message}`,
    )
  }
  const { dependencies, ...used } = read.data
  return { manifest: used, dependencies: Object.keys(dependencies) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new DomainError('unprocessable', 'The package.json of the plugin is not JSON.', { cause })
  }
}
