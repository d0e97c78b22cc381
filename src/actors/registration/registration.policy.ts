// Who may register now: the settings, the number of users, and networks.

import ipaddr from 'ipaddr.js'
import { type Config, isMailEnabled } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'

export type SignupKind = 'direct' | 'request'

/**
 * Why registration is closed, as a sentence for clients; undefined if it is open. The number of `users` counts for requests too, since each
 * of them may become a user.
 */
export function closedBy(config: Pick<Config, 'signup' | 'smtp'>, users: number, kind: SignupKind): string | undefined {
  const { enabled, limit, requires_approval, requires_email_verification } = config.signup
  if (!enabled) return 'User registration is not allowed'
  if (kind === 'direct' && requires_approval) return 'User registration requires approval'
  // Nobody could ever log in.
  if (requires_email_verification && !isMailEnabled(config)) {
    return 'Addresses have to be verified, and this server cannot send mails now.'
  }
  return limit !== -1 && users >= limit ? 'This server has reached its limit of users.' : undefined
}

/** The same for the current number of users. */
export async function whyClosed(
  db: Pick<Database, 'query'>,
  config: Pick<Config, 'signup' | 'smtp'>,
  kind: SignupKind,
): Promise<string | undefined> {
  if (config.signup.limit === -1) return closedBy(config, 0, kind)
  const [users] = await db.query<{ total: number }>("select count(*)::integer as total from users where state <> 'deleted'")
  return closedBy(config, users?.total ?? 0, kind)
}

/**
 * True if this IP address may register: in a network of the whitelist, if that is not empty, and in none of the blacklist. An invalid entry
 * allows nothing.
 */
export function isNetworkAllowed(ip: string, cidr: Config['signup']['filters']['cidr']): boolean {
  const { whitelist, blacklist } = cidr
  if (whitelist.length === 0 && blacklist.length === 0) return true
  if (!ipaddr.isValid(ip)) return false
  const address = ipaddr.process(ip)
  const isIn = (network: string) => isInside(address, network)
  return (whitelist.length === 0 || whitelist.some(isIn)) && !blacklist.some(isIn)
}

/** Invalid entries of the lists, for a warning. */
export const unreadableNetworks = ({ whitelist, blacklist }: Config['signup']['filters']['cidr']): string[] =>
  [...whitelist, ...blacklist].filter((network) => readNetwork(network) === undefined)

type Address = ReturnType<typeof ipaddr.process>

function isInside(address: Address, text: string): boolean {
  const network = readNetwork(text)
  return network !== undefined && network[0].kind() === address.kind() && address.match(network)
}

/** `10.0.0.0/8`, or one address. */
function readNetwork(text: string): [Address, number] | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text)
  if (!ipaddr.isValid(text)) return undefined
  const address = ipaddr.process(text)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}
