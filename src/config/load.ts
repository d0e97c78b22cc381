// Loads the configuration: files in order, then the environment; later ones take precedence.

import { delimiter, resolve } from 'node:path'
import { type Cleaned, clean } from './clean.ts'
import { type Config, publicUrlOf } from './complete.ts'
import { chooseDatabase, chooseRedis, type DatabaseChoice, type RedisChoice } from './connections.ts'
import { type Environment, readEnvironment } from './environment.ts'
import { ConfigError } from './errors.ts'
import { readConfigFile } from './files.ts'
import { type Layer, merge, type Values } from './layers.ts'
import { validate } from './validate.ts'

export interface LoadedConfig {
  config: Config
  /** One line each; they do not prevent the start. */
  warnings: string[]
  /** Absolute. */
  dataDir: string
  database: DatabaseChoice
  /** null: queues, limits and caches work without Redis. */
  redis: RedisChoice | null
  /** The public origin, such as `https://video.example` or `http://localhost:9000`. */
  publicUrl: string
  /** The sources of values: files, then variables; 'built-in defaults' without a file. */
  sources: string[]
  /** The configured values without defaults; runtime overrides are applied to it. */
  input: Values
  /** Keys set by single variables of the environment: administrators cannot change them by the API. */
  pinned: string[]
}

export interface LoadOptions {
  /** Paths of YAML files, from `--config`; relative to `cwd`. Those of VIREO_CONFIG come first. */
  files: readonly string[]
  env: Environment
  cwd: string
}

/** Additional defaults of a server without any file: it makes the usual ladder. */
const BUILT_IN: Layer = {
  label: 'built-in defaults',
  values: {
    transcoding: {
      resolutions: { '144p': true, '240p': true, '360p': true, '480p': true, '720p': true, '1080p': true },
    },
  },
}

/** Throws ConfigError with one line per problem. */
export function loadConfig({ files, env, cwd }: LoadOptions): LoadedConfig {
  const dataDir = resolve(cwd, env.VIREO_DATA_DIR || 'data')
  const paths = [...(env.VIREO_CONFIG ?? '').split(delimiter).filter((path) => path !== ''), ...files]
  const fileLayers = paths.map((path) => readConfigFile(resolve(cwd, path)))
  const environment = readEnvironment(env)
  const said = [...(fileLayers.length > 0 ? fileLayers : [BUILT_IN]), ...environment.layers]

  const cleaned = said.map((layer): Cleaned & { label: string } => ({ label: layer.label, ...clean(layer) }))
  const problems = [...environment.problems, ...cleaned.flatMap((layer) => layer.problems)]
  const input = cleaned.reduce<Values>((merged, layer) => merge(merged, layer.values), {})
  const unknown = cleaned.flatMap((layer) => layer.unknown)
  const config = validateAll(input, { dataDir, layers: cleaned }, problems, unknown)

  return {
    config,
    warnings: [...unknown, ...environment.warnings, ...misunderstandings(config)],
    dataDir,
    database: chooseDatabase(config, input, env),
    redis: chooseRedis(config, input, env),
    publicUrl: publicUrlOf(config.webserver),
    sources: said.map((layer) => layer.label),
    input,
    pinned: environment.pinned,
  }
}

/** Unknown keys are not a problem, but often the reason of one. */
function validateAll(input: Values, options: Parameters<typeof validate>[1], problems: string[], unknown: string[]): Config {
  try {
    const config = validate(input, options)
    if (problems.length === 0) return config
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.push(...error.problems)
  }
  throw new ConfigError([...problems, ...unknown])
}

function misunderstandings({ federation, vireo }: Config): string[] {
  if (federation.prevent_ssrf || vireo.federation.allow_private_addresses) return []
  return [
    'federation.prevent_ssrf is false, but private addresses stay refused; vireo.federation.allow_private_addresses is the key that allows them',
  ]
}
