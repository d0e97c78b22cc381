// The Content-Security-Policy of a web client's pages. Inline scripts run only if the build or this server added them, by their hashes; all
// other scripts must be files of this server.

export interface PolicyOptions {
  /** Hashes of inline scripts. */
  scripts: readonly string[]
  /** Hashes of attributes such as `onload`. */
  handlers: readonly string[]
  /** True if the administrator's script, which clients evaluate from text, may run. */
  evaluates: boolean
  /** True if other sites may frame the page. */
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
    // Components add their styles when they are shown.
    "style-src 'self' 'unsafe-inline'",
    "font-src 'self' data:",
    // Videos and playlists may be on other servers; also peers and trackers.
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
