// Texts with the URL of a server in every notation, and with URLs of other servers that start alike.

export function urlsInText(origin: string, lookalikesOf = origin): string[] {
  const encoded = encodeURIComponent(`${origin}/y`)
  return [
    origin,
    `${origin}/w/x`,
    `${origin}?a`,
    `(${origin}).`,
    `${origin.replace(/^http/, 'ws')}/tracker/socket`,
    `magnet:?tr=${encoded}`,
    // Other servers.
    ...[`${lookalikesOf}9/x`, `${lookalikesOf}9.example/`],
  ]
}
