// The frame of every page, and its policy: only the media of remote videos may come from elsewhere.

import { type Html, html } from '../../platform/html.ts'
import type { Assets } from './assets.ts'
import { type Head, platformTag, titleText } from './heads/index.ts'
import type { Site } from './site.ts'

export interface Page {
  title: string
  body: Html
  head?: Html
  /** Only the player, for frames of other sites. */
  embed?: boolean
  /** Set on pages with a player. */
  player?: boolean
  /** True if somebody may be logged in. */
  signedIn?: boolean
  /** The search text. */
  searched?: string
  /** The administrator's broadcast message. */
  message?: Html | undefined
}

/** The members of a page that come from its head. */
export const headed = ({ name, description, tags }: Head): Pick<Page, 'title' | 'head'> => ({
  title: name,
  head: html`<meta name="description" content="${description}">
${tags}`,
})

export function layout(
  { title, body, head, embed = false, player = false, signedIn = false, searched, message }: Page,
  site: Pick<Site, 'name'> & Partial<Site>,
  assets: Pick<Assets, 'style'> & Partial<Assets>,
): string {
  const name = titleText(title)
  const full = name === site.name ? name : `${name} - ${site.name}`
  return `<!doctype html>
${html`<html lang="en" itemscope itemtype="https://schema.org/WebPage">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#fbfaf7">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#141416">
${platformTag}<title>${full}</title>
<link rel="icon" href="/favicon.ico" sizes="32x32">
${
  !embed &&
  html`<link rel="manifest" href="/manifest.webmanifest">
<link rel="search" type="application/opensearchdescription+xml" href="/opensearch.xml" title="${titleText(site.name)}">
`
}<link rel="stylesheet" href="${assets.style}">
${
  player &&
  html`<script src="${assets.player}" data-hls="${assets.hls}" defer></script>
`
}${head}
</head>
${
  embed
    ? html`<body class="embed"><main>${body}</main></body>`
    : html`<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<a class="name" href="/">${site.name}</a>
<form action="/search" role="search"><input type="search" name="search" aria-label="Search videos" placeholder="Search" required${searched ? html` value="${searched}"` : null}><button>Search</button></form>
<nav aria-label="Main"><a href="/about">About</a>${
        signedIn
          ? html`<a href="/videos/subscriptions">Subscriptions</a><a href="/my-account/settings">Your account</a><a href="/logout">Log out</a>`
          : html`${site.hasSignup && html`<a href="/signup">Sign up</a>`}<a href="/login">Log in</a>`
      }</nav>
</header>
<main id="main" tabindex="-1">
${message}${body}
</main>
<footer><span>A video server of the fediverse</span></footer>
</body>`
}
</html>
`}`
}

/** Host names may contain `;` and `,`, which would end a rule. */
const ORIGIN = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/

/**
 * `origins`: servers that the player may read from. `forms`: the page has one. Sandboxed against everything that local pages do not need.
 */
export function contentSecurityPolicy(options: { origins: readonly string[]; framed: boolean; forms?: boolean }): string {
  const media = ["'self'", ...options.origins.filter((origin) => ORIGIN.test(origin))].join(' ')
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "manifest-src 'self'",
    `connect-src ${media}`,
    `media-src ${media} blob:`,
    "base-uri 'none'",
    `form-action ${options.forms ? "'self'" : "'none'"}`,
    `frame-ancestors ${options.framed ? '*' : "'none'"}`,
  ].join('; ')
}
