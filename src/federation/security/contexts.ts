// The JSON-LD contexts that are on board. Others are never fetched: a signature over one of them cannot be checked.

import { preloadedContexts } from '@fedify/vocab-runtime'

/** Other addresses under which the bundled contexts are named. */
const ALIASES: Record<string, string> = {
  'http://www.w3.org/ns/activitystreams': 'https://www.w3.org/ns/activitystreams',
  'https://www.w3.org/ns/activitystreams.jsonld': 'https://www.w3.org/ns/activitystreams',
  'http://w3id.org/security/v1': 'https://w3id.org/security/v1',
  'https://join-lemmy.org/context.json': 'https://join-lemmy.org/context.json',
  'https://purl.archive.org/socialweb/webfinger': 'https://purl.archive.org/socialweb/webfinger',
  'https://joinmastodon.org/ns': 'http://joinmastodon.org/ns',
  'https://schema.org': 'http://schema.org/',
  'http://schema.org': 'http://schema.org/',
  'https://schema.org/': 'http://schema.org/',
}

/** The bundled context of this address, or undefined. */
function bundledContext(url: string): unknown {
  const name = Object.hasOwn(ALIASES, url) ? (ALIASES[url] ?? url) : url
  return Object.hasOwn(preloadedContexts, name) ? preloadedContexts[name] : undefined
}

/** A JSON-LD document loader that knows the bundled contexts and nothing else. */
export async function loadBundledContext(
  url: string,
): Promise<{ contextUrl: null; documentUrl: string; document: unknown }> {
  const document = bundledContext(url)
  if (document === undefined) throw new Error(`unknown JSON-LD context: ${url}`)
  return { contextUrl: null, documentUrl: url, document }
}

const MAX_CONTEXTS = 100

/** Keywords that let the same statements be written in a quite different shape; honest activities have none of them. */
const RESHAPING = new Set(['@graph', '@included', '@reverse', '@nest', '@import', '@json', '@propagate'])

/**
 * Whether the statements of a document can be computed without a fetch and without doubt about their shape: every
 * context is bundled or inline, and nothing is reshaped.
 */
export function isUnderstandable(document: unknown): boolean {
  let contexts = 0
  const isKnown = (context: unknown): boolean => {
    if (++contexts > MAX_CONTEXTS) return false
    if (Array.isArray(context)) return context.every(isKnown)
    if (typeof context === 'string') return bundledContext(context) !== undefined
    if (typeof context !== 'object' || context === null) return false
    return walk(context)
  }
  const walk = (value: unknown): boolean => {
    if (typeof value === 'string') return !RESHAPING.has(value)
    if (Array.isArray(value)) return value.every(walk)
    if (typeof value !== 'object' || value === null) return true
    return Object.entries(value).every(([key, inner]) =>
      key === '@context' ? isKnown(inner) : !RESHAPING.has(key) && walk(inner),
    )
  }
  return walk(document)
}
