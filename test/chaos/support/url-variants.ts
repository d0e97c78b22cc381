// Texts with the address of a server in each way of writing it, and with those of others that begin like it.

export function urlsInText(origin: string, lookalikesOf = origin): string[] {
  const encoded = encodeURIComponent(`${origin}/y`)
  return [
    origin,
    `${origin}/w/x`,
    `${origin}?a`,
    `(${origin}).`,
    `${origin.replace(/^http/, 'ws')}/tracker/socket`,
    `magnet:?tr=${encoded}`,
    // Of others.
    ...[`${lookalikesOf}9/x`, `${lookalikesOf}9.example/`],
  ]
}
