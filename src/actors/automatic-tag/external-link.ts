// Detects links to other servers in a text. Pure.

import { LinkifyIt } from 'linkify-it'

/** Names without a scheme count too: web clients link them. */
const linkify = new LinkifyIt({ fuzzyLink: true, fuzzyEmail: false, urlAuth: true }).add('ftp:', null).add('mailto:', null)

/** True if the text, or the HTML, contains an address of another host than this one (with its port, if it has one). */
export function hasExternalLink(text: string, ownHost: string): boolean {
  return (linkify.match(text) ?? []).some(({ url }) => {
    const { host } = URL.parse(url.replace(/^(?:https?:)?\/\//i, 'https://')) ?? {}
    return host !== undefined && host !== '' && host !== ownHost && host !== ownHost.replace(/:443$/, '')
  })
}
