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
    closing ? (name === 'container' ? '</section>' : '') : elementOf(name, attributesOf(attributes)).in(language),
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

/** The replacement of an element; for an unknown one, its content. */
function elementOf(name: string, attribute: Attributes): Html {
  switch (name) {
    case 'container':
      return html`<section>${attribute('title') && html`<h2>${attribute('title')}</h2>`}${
        attribute('description') && html`<p>${attribute('description')}</p>`
      }`
    case 'button':
      return link(attribute('href'), attribute('label'))
    case 'channel-miniature':
      return link(`/c/${encodeURIComponent(attribute('name'))}`, attribute('name'))
    case 'video-embed':
    case 'video-miniature':
      return link(`/w/${encodeURIComponent(attribute('uuid') || attribute('video-uuid'))}`, t('Watch the video'))
    case 'playlist-embed':
    case 'playlist-miniature':
      return link(`/w/p/${encodeURIComponent(attribute('uuid'))}`, t('Open the playlist'))
    case 'videos-list':
      return link(listPath(attribute), attribute('title') || t('Open the list of videos'))
    default:
      return html``
  }
}

const link = (href: string, label: string | Localized): Html => html`<p><a href="${href}">${label}</a></p>`

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
