// Parses a compose file like Docker Compose: variables substituted, anchors merged. Unknown keys, and names without a definition, are
// errors.

import { parseDocument } from 'yaml'
import { z } from 'zod'

const duration = z.string().regex(/^\d+[ms]$/)

const service = z.strictObject({
  image: z.string(),
  build: z.strictObject({ context: z.string(), dockerfile: z.string() }).optional(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  healthcheck: z
    .strictObject({
      test: z.array(z.string()).min(2),
      interval: duration,
      timeout: duration,
      start_period: duration.optional(),
      retries: z.int(),
    })
    .optional(),
  restart: z.literal('unless-stopped'),
  init: z.boolean().optional(),
  stop_signal: z.string().optional(),
  stop_grace_period: duration.optional(),
  read_only: z.boolean().optional(),
  shm_size: z.string().optional(),
  pids_limit: z.int().optional(),
  tmpfs: z.array(z.string()).optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  ports: z.array(z.string()).optional(),
  networks: z.array(z.string()).min(1),
  volumes: z.array(z.string()),
  secrets: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.literal('service_healthy') })).default({}),
  deploy: z.strictObject({
    resources: z.strictObject({ limits: z.strictObject({ memory: z.string(), cpus: z.string().optional() }) }),
  }),
  logging: z.strictObject({ driver: z.string(), options: z.record(z.string(), z.string()) }),
})

const file = z.strictObject({
  name: z.string(),
  services: z.record(z.string(), service),
  networks: z.record(z.string(), z.strictObject({ internal: z.boolean().optional() })),
  volumes: z.record(z.string(), z.strictObject({})),
  secrets: z.record(z.string(), z.strictObject({ file: z.string() })),
})

export type Compose = z.infer<typeof file>

/** Throws for unknown keys, and for undefined names. */
export function readCompose(text: string, environment: string): Compose {
  const values = Object.fromEntries([...environment.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]))
  const parsed: unknown = parseDocument(text, { merge: true }).toJS()
  const filled = fillIn(parsed, values)
  const own = Object.fromEntries(Object.entries(z.looseObject({}).parse(filled)).filter(([key]) => !key.startsWith('x-')))
  const compose = file.parse(own)
  for (const [name, { networks, volumes, secrets, depends_on }] of Object.entries(compose.services)) {
    const named = volumes.map((volume) => volume.split(':')[0] ?? '').filter((volume) => !/^[./]/.test(volume))
    const lost = [
      ...missing(networks, compose.networks),
      ...missing(named, compose.volumes),
      ...missing(secrets, compose.secrets),
      ...missing(Object.keys(depends_on), compose.services),
    ]
    if (lost.length > 0) throw new Error(`${name} names what is not there: ${lost.join(', ')}`)
    const unwatched = Object.keys(depends_on).filter((other) => !isWatched(compose.services[other]))
    if (unwatched.length > 0) throw new Error(`${name} waits for what never says that it is healthy: ${unwatched}`)
  }
  return compose
}

const missing = (names: string[], among: object): string[] => names.filter((name) => !Object.hasOwn(among, name))

/** By its own health check, or by that of the image. */
const isWatched = (other: z.infer<typeof service> | undefined): boolean => other?.healthcheck !== undefined || other?.build !== undefined

function fillIn(node: unknown, values: Record<string, string | undefined>): unknown {
  if (typeof node === 'string')
    return node
      .replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, name: string, kind?: string, more = '') => {
        const value = values[name]
        if (value !== undefined) return value
        if (kind === '-') return more
        throw new Error(`${name} has no value and is not in .env.example`)
      })
      .replaceAll('$$', '$')
  if (Array.isArray(node)) return node.map((item) => fillIn(item, values))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, fillIn(value, values)]))
}
