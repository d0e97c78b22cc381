// The bundled JSON-LD contexts. Others are never fetched: signatures over them cannot be checked.

import { preloadedContexts } from '@fedify/vocab-runtime'
import type { JsonObject } from '../wire/context.ts'
import { asArray, isObject, without } from './json.ts'

/** Alternative addresses of the bundled contexts. */
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

/** A JSON-LD document loader for the bundled contexts only. */
export async function loadBundledContext(url: string): Promise<{ contextUrl: null; documentUrl: string; document: unknown }> {
  const document = bundledContext(url)
  if (document === undefined) throw new Error(`unknown JSON-LD context: ${url}`)
  return { contextUrl: null, documentUrl: url, document }
}

const ACTIVITY_STREAMS = 'https://www.w3.org/ns/activitystreams'
const MAX_CONTEXTS = 20
/** Local ones have some 70, those of other servers fewer. */
const MAX_TERMS = 1_000
/** Longest address in a context, in characters. */
const LONGEST_NAME = 200
/** The base of names without a prefix. */
const RELATIVE_TO = new Set(['@vocab', '@base'])

/** Keywords that allow writing the same statements in a very different shape; honest activities have none of them. */
const RESHAPING = new Set(['@graph', '@included', '@reverse', '@nest', '@import', '@json', '@propagate'])

/** Required definitions of ActivityStreams terms: they tell which objects have an address. */
const FIXED_TERMS: Record<string, string> = { id: '@id', type: '@type' }

/** Activities inside of activities inside of Announces. */
const MAX_EMBEDDED = 3

/**
 * True if the statements of a document can be computed without a fetch, unambiguously, and in a time proportional to its size: contexts are
 * bundled or inline, no term has a scoped context, and no keyword reshapes the document. Only the document, its proofs and its embedded
 * object may have a context, as in PeerTube's Update of an actor.
 */
export function isUnderstandable(document: JsonObject, depth = 0): boolean {
  const { '@context': context, proof, signature, object, ...statements } = document
  const proofs = asArray(proof)
  const contexts = [context, ...proofs.filter(isObject).map((one) => one['@context'])]
  const parts = [
    statements,
    ...proofs.map((one) => (isObject(one) ? without(one, '@context') : one)),
    // Its own context has no effect: the context of signatures replaces it.
    isObject(signature) ? without(signature, '@context') : signature,
  ]
  const isEmbeddable = isObject(object) && depth < MAX_EMBEDDED
  return (
    contexts.every((one, at) => (one === undefined && at + depth > 0) || isPlainContext(one)) &&
    parts.every(isPlain) &&
    (isEmbeddable ? isUnderstandable(object, depth + 1) : isPlain(object))
  )
}

function isPlainContext(context: unknown): boolean {
  const contexts = asArray(context)
  const terms = contexts.filter(isObject).flatMap((one) => Object.entries(one))
  // A prefix defined by another prefix makes names that are much longer than the document.
  const derived = new Set(terms.filter(([, meaning]) => !isAbsolute(idOf(meaning))).map(([term]) => term))
  const isNamed = contexts.some((one) => one === ACTIVITY_STREAMS || ALIASES[String(one)] === ACTIVITY_STREAMS)
  return (
    contexts.length <= MAX_CONTEXTS &&
    terms.length <= MAX_TERMS &&
    isNamed &&
    contexts.every((one) => isObject(one) || (typeof one === 'string' && bundledContext(one) !== undefined)) &&
    terms.every(([term, meaning]) => isPlainTerm(term, meaning) && namesOf(meaning).every((name) => isShort(name, derived)))
  )
}

function isPlainTerm(term: string, meaning: unknown): boolean {
  const fixed = Object.hasOwn(FIXED_TERMS, term) ? FIXED_TERMS[term] : undefined
  return (
    !RESHAPING.has(term) &&
    (fixed === undefined || idOf(meaning) === fixed) &&
    (!RELATIVE_TO.has(term) || meaning === null || isAbsolute(meaning)) &&
    isPlain(meaning) &&
    !namesBlank(meaning)
  )
}

const isShort = (name: string, derived: ReadonlySet<string>): boolean =>
  name.length <= LONGEST_NAME && (isAbsolute(name) || !derived.has(name.slice(0, Math.max(0, name.indexOf(':')))))

const idOf = (meaning: unknown): unknown => (isObject(meaning) ? meaning['@id'] : meaning)

const namesOf = (meaning: unknown): string[] =>
  (isObject(meaning) ? Object.values(meaning) : [meaning]).filter((one) => typeof one === 'string')

const isAbsolute = (name: unknown): boolean => typeof name === 'string' && /^[a-z][a-z0-9+.-]*:\/\//i.test(name)

/** True if a term, or the base of a prefix, stands for objects without an address. */
const namesBlank = (meaning: unknown): boolean =>
  isObject(meaning) ? Object.values(meaning).some(namesBlank) : typeof meaning === 'string' && meaning.startsWith('_:')

/** True without contexts and reshaping keywords. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return !RESHAPING.has(value)
  if (Array.isArray(value)) return value.every(isPlain)
  if (!isObject(value)) return true
  return Object.entries(value).every(([key, inner]) => key !== '@context' && !RESHAPING.has(key) && isPlain(inner))
}

/** Limit of objects without an address: no forwarded activity has more; a video with all its files has about 150. */
const MAX_NAMELESS = 400
/** Limit of all values; a video with all its files and many captions has some 2,000. */
const MAX_VALUES = 3_000

/**
 * True if canonicalising would be slow: each value is a statement, and blank nodes are distinguished by their neighbours, which takes
 * seconds for some thousands. Items of a list are blank nodes too, and names that begin with `_:` are not addresses.
 */
export function isTangled(document: JsonObject): boolean {
  let nameless = 0
  let values = 0
  const isBlank = (text: unknown): boolean => typeof text === 'string' && text.startsWith('_:')
  const exceeds = (value: unknown, isItem: boolean): boolean => {
    if (Array.isArray(value)) return value.some((one) => exceeds(one, true))
    values += 1
    if (values > MAX_VALUES) return true
    if (!isObject(value)) {
      if (isItem || isBlank(value)) nameless += 1
      return nameless > MAX_NAMELESS
    }
    if (isItem || typeof value.id !== 'string') nameless += 1
    return (
      nameless > MAX_NAMELESS ||
      Object.entries(value).some(([key, inner]) => {
        if (isBlank(key)) nameless += 1
        return key !== '@context' && exceeds(inner, false)
      })
    )
  }
  return exceeds(document, false)
}
