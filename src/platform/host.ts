// Canonical form of hosts: international names come in Unicode or in Punycode (RFC 5891).

import { domainToASCII } from 'node:url'

/** A name of DNS (RFC 1035, 2.3.4) with a port. */
const LONGEST = 259

/** The host in Punycode and lower case, with its port if it has one; other text is returned unchanged. */
export function asciiHost(text: string): string {
  if (text.length > LONGEST) return text
  const [, name = text, port = ''] = /^(.*?)(:\d{1,5})?$/s.exec(text) ?? []
  const ascii = domainToASCII(name)
  return ascii === '' ? text : ascii + port
}
