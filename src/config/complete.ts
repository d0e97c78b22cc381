// Fills in keys that depend on others (job types, schedulers, folders below the data directory) and freezes the result.

import { resolve } from 'node:path'
import { ConfigError } from './errors.ts'
import { freeze } from './freeze.ts'
import type { ConfiguredJobType } from './keys/vireo-jobs.ts'
import { type Values, valueAt } from './layers.ts'
import type { ParsedConfig } from './schema.ts'
import { withoutUnsupported } from './unsupported.ts'

export interface JobTypeConfig {
  attempts: number
  /** Maximum duration in milliseconds; null: no limit. */
  ttl: number | null
  /** Concurrent jobs of this type in one process. */
  concurrency: number
  /** Milliseconds for which completed and failed jobs are retained. */
  keep_completed: number
  keep_failed: number
}

/** `VideoPrivacy` of the contract. */
const PRIVATE = 3

/** The effective configuration: durations in milliseconds, sizes in bytes, folders absolute, everything frozen. */
export type Config = ReturnType<typeof complete>

export type LdapProvider = Config['vireo']['auth']['ldap'][number]
export type OpenIdProvider = Config['vireo']['auth']['openid_connect'][number]

/** `input` contains the configured values. */
export function complete(parsed: ParsedConfig, { dataDir, input }: { dataDir: string; input: Values }) {
  const { vireo, defaults } = parsed
  const isPrivacySet = valueAt(input, ['defaults', 'publish', 'privacy']) !== undefined
  return freeze({
    ...parsed,
    defaults: {
      ...defaults,
      publish: {
        ...defaults.publish,
        /** For uploads and imports that omit it: the default is a suggestion for clients, and would publish videos by accident. */
        unsaid_privacy: isPrivacySet ? defaults.publish.privacy : PRIVATE,
      },
    },
    ...withoutUnsupported(parsed),
    storage: absoluteFolders(parsed.storage, dataDir),
    vireo: {
      ...vireo,
      jobs: { ...vireo.jobs, types: jobTypes(parsed) },
      schedulers: {
        ...vireo.schedulers,
        channel_sync_check_interval:
          vireo.schedulers.channel_sync_check_interval ?? parsed.import.video_channel_synchronization.check_interval,
        video_views_buffer_update: vireo.schedulers.video_views_buffer_update ?? parsed.views.videos.local_buffer_update_interval,
      },
    },
  })
}

/** Addresses that mean 'this machine' and are not public. */
const LOCAL = new Set(['127.0.0.1', '0.0.0.0', '::', '::1', '[::]', '[::1]', 'localhost'])

/** Derives the public address from the listening one unless it is configured in `input`. Throws ConfigError. */
export function fillWebserver(parsed: ParsedConfig, input: Values): ParsedConfig {
  const { listen, webserver } = parsed
  const isSet = (name: string) => valueAt(input, ['webserver', name]) !== undefined
  const hostname = isSet('hostname') || LOCAL.has(listen.hostname) ? webserver.hostname : listen.hostname
  const port = isSet('port') ? webserver.port : webserver.https ? 443 : listen.port
  return { ...parsed, webserver: { ...webserver, hostname: normalHostname(hostname), port } }
}

/** The public origin, such as `https://video.example` or `http://localhost:9000`. */
export function publicUrlOf(webserver: { hostname: string; port: number; https: boolean }): string {
  return new URL(`${webserver.https ? 'https' : 'http'}://${webserver.hostname}:${webserver.port}`).origin
}

/** Lower case, Punycode, brackets around IPv6. */
function normalHostname(hostname: string): string {
  const bracketed = hostname.includes(':') && /^[0-9a-f:.]+$/i.test(hostname) ? `[${hostname}]` : hostname
  const url = URL.parse(`http://${bracketed}`)
  if (url?.hostname && url.href === `http://${url.hostname}/`) return url.hostname
  throw new ConfigError([`webserver.hostname is "${hostname}", expected a host name such as video.example`])
}

function absoluteFolders<Name extends string>(folders: Record<Name, string>, dataDir: string): Record<Name, string> {
  const names = Object.keys(folders) as Name[]
  return Object.fromEntries(names.map((name) => [name, resolve(dataDir, folders[name])])) as Record<Name, string>
}

function jobTypes(parsed: ParsedConfig): Record<ConfiguredJobType, JobTypeConfig> {
  const { types, keep } = parsed.vireo.jobs
  const names = Object.keys(types) as ConfiguredJobType[]
  const entries = names.map((name): [ConfiguredJobType, JobTypeConfig] => {
    const type = types[name]
    return [
      name,
      {
        attempts: type.attempts,
        ttl: type.ttl ?? (name === 'video-import' ? parsed.import.videos.timeout : null),
        concurrency: type.concurrency ?? concurrencyElsewhere(name, parsed),
        keep_completed: type.keep_completed ?? keep.completed,
        keep_failed: type.keep_failed ?? keep.failed,
      },
    ]
  })
  return Object.fromEntries(entries) as Record<ConfiguredJobType, JobTypeConfig>
}

function concurrencyElsewhere(name: ConfiguredJobType, parsed: ParsedConfig): number {
  if (name === 'video-transcoding') return parsed.transcoding.concurrency
  return name === 'video-import' ? parsed.import.videos.concurrency : 1
}
