// Mail addresses, also internationalised ones (RFC 6531): letters of every script, and hosts in Unicode or Punycode.

import { domainToASCII, domainToUnicode } from 'node:url'

/** The longest address that mail servers accept (RFC 5321, 4.5.3.1.3). */
export const LONGEST_ADDRESS = 254

const LETTER = String.raw`[[\w\p{L}\p{M}\p{N}]--\p{Default_Ignorable_Code_Point}]`
const ADDRESS = new RegExp(String.raw`^(?!\.)(?!.*\.\.)(?:${LETTER}|[+\-'.])*(?:${LETTER}|[+\-])@((?:${LETTER}|[\-.])+)$`, 'v')
const HOST = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:[a-z]{2,}|xn--[a-z0-9-]+)$/

export function isMailAddress(text: string): boolean {
  const [, host] = text.length <= LONGEST_ADDRESS ? (ADDRESS.exec(text) ?? []) : []
  return host !== undefined && HOST.test(domainToASCII(host))
}

/** The canonical form for storing and searching: a host in Punycode becomes Unicode, and letters are composed (NFC). */
export function canonicalAddress(text: string): string {
  const at = text.lastIndexOf('@')
  const host = text.slice(at + 1)
  const isInternational = at !== -1 && /[^\0-\x7f]|(?:^|\.)xn--/i.test(host)
  const readable = isInternational ? domainToUnicode(domainToASCII(host)) : ''
  return (readable === '' ? text : text.slice(0, at + 1) + readable).normalize('NFC')
}
