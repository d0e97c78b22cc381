// Who may register now, as the configuration and the number of users say.

import ipaddr from 'ipaddr.js'
import type { Config } from '../../config/index.ts'

/** Whether there is room for one more user; with approval, whether one more may be asked for. */
export const isSignupOpen = ({ signup }: Pick<Config, 'signup'>, users: number): boolean =>
  signup.enabled && (signup.limit === -1 || users < signup.limit)

/**
 * Whether the filters let an address register: it must be in one of the allowed subnets, if there are any, and in none of
 * the refused ones. A subnet that cannot be read matches nobody.
 */
export function isSignupAddress({ signup }: Pick<Config, 'signup'>, ip: string): boolean {
  const { whitelist, blacklist } = signup.filters.cidr
  if (whitelist.length === 0 && blacklist.length === 0) return true
  if (!ipaddr.isValid(ip)) return false
  const address = ipaddr.process(ip)
  const isIn = (subnet: string) => matches(address, subnet)
  return (whitelist.length === 0 || whitelist.some(isIn)) && !blacklist.some(isIn)
}

function matches(address: ipaddr.IPv4 | ipaddr.IPv6, subnet: string): boolean {
  const range = ipaddr.isValidCIDR(subnet) ? ipaddr.parseCIDR(subnet) : undefined
  const single = range === undefined && ipaddr.isValid(subnet) ? ipaddr.process(subnet) : undefined
  if (single) return single.toNormalizedString() === address.toNormalizedString()
  return range !== undefined && range[0].kind() === address.kind() && address.match(range)
}
