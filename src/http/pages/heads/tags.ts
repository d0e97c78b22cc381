// The tags of a head, in the order and with the names that consumers expect.

import type { Config } from '../../../config/index.ts'
import { type Html, html, jsonScript } from '../../../platform/html.ts'
import type { Localized } from '../../../platform/language.ts'
import { titleText } from './text.ts'

/** The name of the API, by which importers recognise it. */
export const platformTag = html`<meta property="og:platform" content="PeerTube">
`

export type Site = ReturnType<typeof siteOf>

export const siteOf = ({ instance, services, signup }: Config) => ({
  name: instance.name,
  description: instance.short_description,
  /** Such as `@name`; empty for none. */
  twitter: services.twitter.username,
  hasSignup: signup.enabled,
})

/** Metadata of a page. Texts are plain and already shortened. */
export interface Facts {
  /** Without the name of the site. */
  name: string
  description: string
  type: 'video' | 'website'
  url: string
  /** The canonical address, if it differs. */
  canonical?: string | undefined
  image?: string | null
  /** A page with only the player. */
  player?: { url: string; width: number; height: number }
  oembed?: string
  isIndexed: boolean
  feeds?: readonly { title: Localized; href: string }[]
  document?: string | undefined
  schema: object
}

export type Head = ReturnType<typeof headOf>

type Pair = readonly [name: string, content: string | number | null | undefined]

/**
 * The whole head: `title` has the name of the site, `tags` everything but it and the description. `embed`: a page with only the player, which
 * no other page shows as its own.
 */
export function headOf(facts: Facts, site: Site, options: { embed?: boolean } = {}) {
  const { name, description } = facts
  const title = name === site.name ? name : `${name} - ${site.name}`
  const isIndexed = facts.isIndexed && !options.embed
  const tags = html`${isIndexed ? null : metas('name', [['robots', 'noindex']])}${
    options.embed ? null : metas('property', openGraph(facts, site))
  }${metas('itemprop', [
    ['name', name],
    ['description', description],
    ['image', facts.image],
  ])}${options.embed ? null : metas('name', twitterCard(facts, site))}${links(facts)}${jsonScript(facts.schema)}
`
  return { name, title, description, tags }
}

/** The head of a page without a subject of its own. */
export function plainHead(site: Site, name: string = site.name, options: { isIndexed?: boolean } = {}): Head {
  const plain = titleText(name)
  const title = plain === site.name ? plain : `${plain} - ${site.name}`
  const tags = options.isIndexed === false ? metas('name', [['robots', 'noindex']]) : html``
  return { name: plain, title, description: site.description, tags }
}

const openGraph = ({ type, name, description, image, url, player }: Facts, site: Site): Pair[] => [
  ['og:type', type],
  ['og:site_name', site.name],
  ['og:title', name],
  ['og:image', image],
  ['og:url', url],
  ['og:description', description],
  ['og:video:url', player?.url],
  ['og:video:secure_url', player?.url],
  ['og:video:type', player && 'text/html'],
  ['og:video:width', player?.width],
  ['og:video:height', player?.height],
]

const twitterCard = ({ name, description, image, player }: Facts, site: Site): Pair[] => [
  ['twitter:card', player ? 'player' : 'summary'],
  ['twitter:site', site.twitter],
  ['twitter:title', name],
  ['twitter:description', description],
  ['twitter:image', image],
  ['twitter:player', player?.url],
  ['twitter:player:width', player?.width],
  ['twitter:player:height', player?.height],
]

/** Unknown values are left out. */
const metas = (attribute: 'name' | 'property' | 'itemprop', pairs: readonly Pair[]): Html =>
  html`${pairs
    .filter(([, content]) => content !== null && content !== undefined && content !== '')
    .map(([name, content]) => html`<meta ${attribute}="${name}" content="${content}">\n`)}`

const links = ({ name, oembed, canonical, url, document, feeds = [] }: Facts): Html => html`${
  oembed && html`<link rel="alternate" type="application/json+oembed" href="${oembed}" title="${name}">\n`
}<link rel="canonical" href="${canonical ?? url}">
${document && html`<link rel="alternate" type="application/activity+json" href="${document}">\n`}${feeds.map(
  ({ title, href }) => html`<link rel="alternate" type="application/rss+xml" href="${href}" title="${title}">\n`,
)}`
