// The frame of every page, and its policy: only the media of remote videos may come from elsewhere.

import { type Html, html } from '../../platform/html.ts'
import { english, type Language, type Localized, t, type Word, wordIn } from '../../platform/language.ts'
import { languages } from '../../platform/languages.ts'
import type { Assets } from './assets.ts'
import { capital } from './bodies/text.ts'
import { type Head, platformTag, type Site, titleText } from './heads/index.ts'
import { pageTexts, playerTexts } from './script-texts.ts'

export interface Page {
  title: string | Localized
  body: Html
  head?: Html
  /** Only the player, for frames of other sites. */
  embed?: boolean
  player?: boolean
  /** True if somebody may be logged in. */
  signedIn?: boolean
  searched?: string
  message?: Html | undefined
  theme?: keyof typeof themes
}

/** By their `color-scheme`. */
export const themes = { 'light dark': t('As the device'), light: t('Light'), dark: t('Dark') }

export const headed = ({ name, description, tags }: Head): Pick<Page, 'title' | 'head'> => ({
  title: name,
  head: html`<meta name="description" content="${description}">
${tags}`,
})

export function layout(
  { title, body, head, embed = false, player = false, signedIn = false, searched, message, theme = 'light dark' }: Page,
  site: Pick<Site, 'name'> & Partial<Site>,
  assets: Pick<Assets, 'style'> & Partial<Assets>,
  language: Language = english,
): string {
  const name = titleText(String(wordIn(title, language)))
  const full = name === site.name ? name : `${name} - ${site.name}`
  return `<!doctype html>
${html`<html lang="${language.tag}" dir="${language.dir}" itemscope itemtype="https://schema.org/WebPage">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme}">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="${theme === 'dark' ? '#141416' : '#fbfaf7'}">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="${theme === 'light' ? '#fbfaf7' : '#141416'}">
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
  html`<script src="${assets.player}" data-hls="${assets.hls}" data-texts="${playerTexts(language)}" defer></script>
`
}${
  signedIn &&
  html`<script src="${assets.page}" data-texts="${pageTexts(language)}" type="module"></script>
`
}${head}
</head>
${
  embed
    ? html`<body class="embed"><main>${body}</main></body>`
    : html`<body>
<a class="skip" href="#main">${t('Skip to content')}</a>
<header>
<a class="name" href="/"><bdi>${site.name}</bdi></a>
<form action="/search" role="search"><input type="search" name="search" aria-label="${t('Search videos')}" placeholder="${t('Search')}" required${searched ? html` value="${searched}"` : null}><button>${t('Search')}</button></form>
<nav aria-label="${t('Main')}"><a href="/about">${t('About')}</a>${
        signedIn
          ? html`<a href="/videos/upload">${t('Upload')}</a><a href="/videos/subscriptions">${t('Subscriptions')}</a><a href="/my-library/videos">${t('Your library')}</a><a href="/my-account/settings">${t('Your account')}</a><a href="/logout">${t('Log out')}</a>`
          : html`${site.hasSignup && html`<a href="/signup">${t('Sign up')}</a>`}<a href="/login">${t('Log in')}</a>`
      }</nav>
</header>
<main id="main" tabindex="-1">
${message}${body}
</main>
<footer><span>${t('A video server of the fediverse')}</span>${choice('theme', t('Colours'), theme, Object.entries(themes))}${choice('language', t('Language'), language.tag, ownNames())}</footer>
</body>`
}
</html>
`.in(language)}`
}

const ownNames = () => languages.map(({ tag, nameOf }) => [tag, capital(nameOf(tag) ?? tag)] as const)

/** A choice by buttons, in the language of each if they are languages. */
const choice = (name: 'language' | 'theme', label: Localized, open: string, options: readonly (readonly [string, Word])[]): Html =>
  html`<form method="post" action="/${name}" class="acts" aria-label="${label}">${options.map(([value, text]) => {
    const lang = name === 'language' && html` lang="${value}"`
    return html`<button name="${name}" value="${value}"${lang}${value === open && html` aria-current="true"`}>${text}</button>`
  })}</form>`

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
    "worker-src 'self'",
    `connect-src ${media}`,
    `media-src ${media} blob:`,
    "base-uri 'none'",
    `form-action ${options.forms ? "'self'" : "'none'"}`,
    `frame-ancestors ${options.framed ? '*' : "'none'"}`,
  ].join('; ')
}
