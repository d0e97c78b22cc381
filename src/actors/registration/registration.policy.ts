// Who may register now: the settings, the number of users, and networks.

import ipaddr from 'ipaddr.js'
import { type Config, isMailEnabled } from '../../config/index.ts'
import type { Database } from '../../platform/database/index.ts'

export type SignupKind = 'direct' | 'request'

/**
 * Why nobody may register now, as a sentence for clients; undefined when the doors are open. `users` that there are count
 * against the limit, for requests too, since each of them is to become a user.
 */
export function closedBy(config: Pick<Config, 'signup' | 'smtp'>, users: number, kind: SignupKind): string | undefined {
  const { enabled, limit, requires_approval, requires_email_verification } = config.signup
  if (!enabled) return 'User registration is not allowed'
  if (kind === 'direct' && requires_approval) return 'User registration requires approval'
  // Nobody could ever log in.
  if (requires_email_verification && !isMailEnabled(config)) {
    return 'Addresses have to be verified, and this server cannot send mails now.'
  }
  return limit !== -1 && users >= limit ? 'This server has as many users as it takes.' : undefined
}

/** The same for the users that there are now. */
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
 * Whether people with this address may register: in one of the networks of the white list, if it has any, and in none of
 * the black list. An entry that is no network opens nothing.
 */
export function isNetworkAllowed(ip: string, cidr: Config['signup']['filters']['cidr']): boolean {
  const { whitelist, blacklist } = cidr
  if (whitelist.length === 0 && blacklist.length === 0) return true
  if (!ipaddr.isValid(ip)) return false
  const address = ipaddr.process(ip)
  const isIn = (network: string) => isInside(address, network)
  return (whitelist.length === 0 || whitelist.some(isIn)) && !blacklist.some(isIn)
}

/** The entries of the lists that are no networks, for a warning. */
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
