// Hosts and handles (`name@host`), as clients write them.

import { z } from 'zod'
import type { Config } from '../../config/index.ts'
import { asciiHost } from '../../platform/host.ts'

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const HOST = new RegExp(`^(?:${LABEL}\\.)*${LABEL}\\.?(?::\\d{1,5})?$`, 'i')
const PUBLIC_HOST = new RegExp(`^(?:${LABEL}\\.)+[a-z][a-z0-9-]*[a-z0-9](?::\\d{1,5})?$`, 'i')
const NAME = /^[a-z0-9_.-]{1,200}$/i

/** A name of DNS (RFC 1035, 2.3.4) with a port. */
const LONGEST_HOST = 259

/** Hosts that are not public names, or are IP addresses, are valid only if such peers are allowed. */
export const isHost = (text: string, config: Config): boolean =>
  isOwnHost(text, config) ||
  (text.length <= LONGEST_HOST &&
    (config.vireo.federation.allow_private_addresses ? HOST : PUBLIC_HOST).test(text) &&
    Number(text.split(':')[1] ?? 1) <= 65_535)

/** True for this server, which may have an IP address or no top-level domain. */
function isOwnHost(text: string, { webserver: { hostname, port } }: Config): boolean {
  const host = text.toLowerCase()
  return host === hostname.toLowerCase() || host === `${hostname.toLowerCase()}:${port}`
}

/** The host in a pasted address such as `https://example.org/`, converted to Punycode. */
export function readHost(text: string): string {
  const host = text.replace(/^https:\/\/([^/]*)\/?$/i, '$1')
  return /\P{ASCII}/u.test(host) ? asciiHost(host) : host
}

/** The name of a server, with its port unless that is the default. */
export const hostText = (config: () => Config, message = 'Should have a valid host') =>
  z
    .string(message)
    .transform(readHost)
    .refine((text) => isHost(text, config()), message)

/** `name@host` in its two parts, the host in Punycode; undefined if it is invalid. */
export function splitHandle(text: string, config: Config): { name: string; host: string } | undefined {
  const at = text.lastIndexOf('@')
  const name = text.slice(0, at).replace(/^@/, '')
  const host = asciiHost(text.slice(at + 1))
  return at > 0 && NAME.test(name) && isHost(host, config) ? { name, host } : undefined
}

/** A name with or without `@host`, as in paths of accounts and channels; `host` is null for a local one. */
export function toActorHandle(text: string, ownHost: string): { name: string; host: string | null } {
  const [name = '', asked] = text.split('@')
  const host = asked === undefined ? ownHost : asciiHost(asked)
  return { name, host: host === ownHost ? null : host }
}
