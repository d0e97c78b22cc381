// The administrator's homepage: Markdown with plain HTML and the elements of web clients (`peertube-button` and the like), as inert HTML.
// Elements that load content by script become links here.

import MarkdownIt from 'markdown-it'
import sanitizeHtml from 'sanitize-html'
import { Html, html, unescapeHtml, webUrl } from '../../platform/html.ts'
import { type Language, type Localized, t } from '../../platform/language.ts'

const markdown = new MarkdownIt({ html: true, linkify: true, breaks: true, maxNesting: 20 })

const ELEMENT = /<(\/?)peertube-([a-z-]{1,40})((?:\s+[\w-]{1,60}="[^"]{0,2000}")*)\s*>/g
const ATTRIBUTE = /([\w-]+)="([^"]*)"/g

/** `origin`: this server's, the only one that pictures may come from. */
export function customMarkup(content: string, origin: string, language: Language): Html {
  const plain = content.replace(ELEMENT, (_whole, closing: string, name: string, attributes: string) =>
    closing ? (name === 'container' ? '</section>' : '') : (ELEMENTS.get(name)?.(attributesOf(attributes)).in(language) ?? ''),
  )
  const clean = sanitizeHtml(markdown.render(plain), {
    allowedTags: TAGS,
    allowedAttributes: { a: ['href', 'rel'], img: ['src', 'alt', 'loading'] },
    allowedSchemes: ['http', 'https', 'mailto'],
    allowProtocolRelative: false,
    nestingLimit: 30,
    transformTags: {
      // The page has its own first heading.
      h1: 'h2',
      a: (tagName, { href = '' }) => ({ tagName, attribs: { href, rel: 'noopener' } }),
      img: (_tagName, { src = '', alt = '' }) => pictureOf({ src, alt }, origin, language),
    },
  })
  return new Html(`<div class="rich own">${clean}</div>`)
}

const TAGS =
  'a b blockquote br code dd del div dl dt em h2 h3 h4 h5 h6 hr i img li ol p pre s section small span strong sub sup table tbody td th thead tr u ul'.split(
    ' ',
  )

type Attributes = (name: string) => string

function attributesOf(text: string): Attributes {
  const found = new Map([...text.matchAll(ATTRIBUTE)].map(([, name = '', value = '']) => [name, value]))
  return (name) => unescapeHtml(found.get(`data-${name}`) ?? '')
}

const link = (href: string, label: string | Localized): Html => html`<p><a href="${href}">${label}</a></p>`

const toVideo = (attribute: Attributes): Html =>
  link(`/w/${encodeURIComponent(attribute('uuid') || attribute('video-uuid'))}`, t('Watch the video'))
const toPlaylist = (attribute: Attributes): Html => link(`/w/p/${encodeURIComponent(attribute('uuid'))}`, t('Open the playlist'))
const section = (attribute: Attributes): Html =>
  html`<section>${attribute('title') && html`<h2>${attribute('title')}</h2>`}${attribute('description') && html`<p>${attribute('description')}</p>`}`

/** The replacements of elements; of an unknown one its content stays. */
const ELEMENTS: ReadonlyMap<string, (attribute: Attributes) => Html> = new Map([
  ['container', section],
  ['button', (attribute) => link(attribute('href'), attribute('label'))],
  ['channel-miniature', (attribute) => link(`/c/${encodeURIComponent(attribute('name'))}`, attribute('name'))],
  ['video-embed', toVideo],
  ['video-miniature', toVideo],
  ['playlist-embed', toPlaylist],
  ['playlist-miniature', toPlaylist],
  ['videos-list', (attribute) => link(listPath(attribute), attribute('title') || t('Open the list of videos'))],
])

function listPath(attribute: Attributes): string {
  const query = new URLSearchParams()
  if (attribute('sort')) query.set('sort', attribute('sort'))
  if (attribute('only-local') === 'true') query.set('scope', 'local')
  return `/videos/browse${query.size > 0 ? `?${query}` : ''}`
}

/** Visitors' browsers load no pictures from other servers: those become links. */
function pictureOf({ src, alt }: { src: string; alt: string }, origin: string, language: Language): sanitizeHtml.Tag {
  const url = URL.parse(src, origin)
  if (url?.origin === origin) return { tagName: 'img', attribs: { src: url.pathname, alt, loading: 'lazy' } }
  return { tagName: 'a', attribs: { href: webUrl(src) ?? '', rel: 'noopener' }, text: alt || t('Picture').in(language) }
}
