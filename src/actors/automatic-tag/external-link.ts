// Whether a text leads to another server. Pure.

/** The beginnings of addresses; `//` alone says so only before a name with a dot. */
const ADDRESSES = /(?:https?:\/\/|(?<!\w)www\.|(?<![\w:/])\/\/(?=[^\s/.]+\.))[^\s<>"'`()[\]{}\\]+/giu

/** Top-level domains by which web clients turn a bare name into a link: the usual ones, and those of countries. */
const TOP_LEVEL = `com|net|org|info|biz|edu|gov|pro|web|aero|asia|coop|museum|name|shop|xxx|\u0440\u0444|
a[cdefgilmoqrstuwxz]|b[abdefghijmnorstvwyz]|c[acdfghiklmnoruvwxyz]|d[ejkmoz]|e[cegrstu]|f[ijkmor]|g[abdefghilmnpqrstuwy]|
h[kmnrtu]|i[delmnoqrst]|j[emop]|k[eghimnprwyz]|l[abcikrstuvy]|m[acdeghklmnopqrstuvwxyz]|n[acefgilopruz]|om|
p[aefghklmnrstwy]|qa|r[eosuw]|s[abcdeghijklmnorstuvxyz]|t[cdfghjklmnortvwz]|u[agksyz]|v[aceginu]|w[fs]|y[et]|z[amw]`
/** In small letters, so that a sentence that follows a full stop without a space is none. */
const BARE_NAMES = new RegExp(
  `(?<![\\p{L}\\p{N}@./:_-])(?:[a-z0-9\\u00a1-\\uffff-]+\\.)+(?:${TOP_LEVEL.replaceAll('\n', '')})(?::\\d{1,5})?(?![\\p{L}\\p{N}@_-]|\\.[\\p{L}\\p{N}])`,
  'gu',
)

/** Whether an address of another host than this one (with its port, if it has one) is in the text, or in the HTML. */
export function hasExternalLink(text: string, ownHost: string): boolean {
  for (const [found] of [...text.matchAll(ADDRESSES), ...text.matchAll(BARE_NAMES)]) {
    const { host } = URL.parse(`https://${found.replace(/^(?:https?:)?\/\//i, '')}`) ?? {}
    if (host !== undefined && host !== '' && host !== ownHost && host !== ownHost.replace(/:443$/, '')) return true
  }
  return false
}
