// What the pages of a web client may do. Of scripts in the page only those run that the build or this server put there, by their
// hashes; all other scripts are files of this server.

export interface PolicyOptions {
  /** Hashes of the scripts in the page. */
  scripts: readonly string[]
  /** Hashes of attributes such as `onload`. */
  handlers: readonly string[]
  /** Whether the script of the administrator, which clients read as text, may run. */
  evaluates: boolean
  /** Whether other sites may frame the page. */
  framed: boolean
  reportUri: string | null
}

export function clientPolicy({ scripts, handlers, evaluates, framed, reportUri }: PolicyOptions): string {
  const scriptSources = [
    "'self'",
    // Players compile decoders.
    "'wasm-unsafe-eval'",
    ...(evaluates ? ["'unsafe-eval'"] : []),
    ...scripts,
    ...(handlers.length > 0 ? ["'unsafe-hashes'", ...handlers] : []),
  ]
  return [
    "default-src 'self'",
    `script-src ${[...new Set(scriptSources)].join(' ')}`,
    // Components bring their styles when they are shown.
    "style-src 'self' 'unsafe-inline'",
    "font-src 'self' data:",
    // Videos and their playlists lie on other servers, peers and trackers too.
    'connect-src * ws: wss: data: blob:',
    'media-src * data: blob:',
    'img-src * data: blob:',
    "worker-src 'self' blob:",
    "manifest-src 'self'",
    "frame-src 'self'",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    `frame-ancestors ${framed ? '*' : "'none'"}`,
    ...(reportUri === null ? [] : [`report-uri ${reportUri.replace(/[;,\s]/g, encodeURIComponent)}`]),
  ].join('; ')
}
