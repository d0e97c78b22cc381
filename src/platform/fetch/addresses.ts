// Which IP addresses belong to the public internet.

import ipaddr from 'ipaddr.js'

/**
 * True if a resolved address may be connected to: global unicast only. Loopback, private, link-local, CGNAT, multicast and documentation
 * ranges are excluded, and also the IPv6 forms that contain an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo), because a gateway
 * would translate them into one of those, and anything with a scope.
 */
export function isPublicAddress(text: string): boolean {
  if (text.includes('%') || !ipaddr.isValid(text)) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || isGlobalUnicast(address)
}

/** All of today's global unicast is in 2000::/3 (RFC 4291, IANA); documentation has 2001:db8::/32 and 3fff::/20. */
function isGlobalUnicast(address: ipaddr.IPv6): boolean {
  const [first = 0, second = 0] = address.parts
  if (first >> 13 !== 1) return false
  return !(first === 0x2001 && second === 0x0db8) && !(first === 0x3fff && second >> 12 === 0)
}
