// Whether a text leads to another server. Pure.

/** The beginnings of addresses; `//` alone says so only before a name with a dot. */
const ADDRESSES = /(?:https?:\/\/|(?<!\w)www\.|(?<![\w:/])\/\/(?=[^\s/.]+\.))[^\s<>"'`()[\]{}\\]+/giu

/** Whether an address of another host than this one (with its port, if it has one) is in the text, or in the HTML. */
export function hasExternalLink(text: string, ownHost: string): boolean {
  for (const [found] of text.matchAll(ADDRESSES)) {
    const { host } = URL.parse(found.replace(/^(?:https?:)?\/\//i, 'https://').replace(/^www\./i, 'https://$&')) ?? {}
    if (host !== undefined && host !== '' && host !== ownHost && host !== ownHost.replace(/:443$/, '')) return true
  }
  return false
}
