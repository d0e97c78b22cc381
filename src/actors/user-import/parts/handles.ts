// Handles of archives: `name@host`, or `name` for this server.

import type { Deps } from './deps.ts'

const NAME = /^[a-z0-9_.-]{1,200}$/i

/** Undefined if it is invalid. */
export function readHandle(text: string, { isHost, urls }: Pick<Deps, 'isHost' | 'urls'>): { name: string; host: string } | undefined {
  const [name = '', host = urls.host, ...others] = text.replace(/^@/, '').split('@', 4)
  if (!NAME.test(name) || others.length > 0 || !(host === urls.host || isHost(host))) return undefined
  return { name, host: host.toLowerCase() }
}
