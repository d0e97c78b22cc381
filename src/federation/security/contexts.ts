// The JSON-LD contexts that are on board. Others are never fetched: a signature over one of them cannot be checked.

import { preloadedContexts } from '@fedify/vocab-runtime'
import type { JsonObject } from '../wire/context.ts'
import { asArray, isObject, without } from './json.ts'

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
export async function loadBundledContext(url: string): Promise<{ contextUrl: null; documentUrl: string; document: unknown }> {
  const document = bundledContext(url)
  if (document === undefined) throw new Error(`unknown JSON-LD context: ${url}`)
  return { contextUrl: null, documentUrl: url, document }
}

const ACTIVITY_STREAMS = 'https://www.w3.org/ns/activitystreams'
const MAX_CONTEXTS = 20
/** Ours have some 70, and those of other servers fewer. */
const MAX_TERMS = 1_000
/** Of an address in a context, in characters. */
const LONGEST_NAME = 200
/** What names without a prefix are appended to. */
const RELATIVE_TO = new Set(['@vocab', '@base'])

/** Keywords that let the same statements be written in a quite different shape; honest activities have none of them. */
const RESHAPING = new Set(['@graph', '@included', '@reverse', '@nest', '@import', '@json', '@propagate'])

/** What terms of ActivityStreams must keep to mean: by them it is seen which things have an address. */
const FIXED_TERMS: Record<string, string> = { id: '@id', type: '@type' }

/** Activities inside of activities inside of Announces. */
const MAX_EMBEDDED = 3

/**
 * Whether the statements of a document can be computed without a fetch, without doubt about their shape, and in a time that its
 * size tells: contexts are bundled or inline, no term has a context of its own, and nothing is reshaped. Besides the document its
 * proofs have a context, and the object that it embeds, as in PeerTube's Update of an actor; nothing else has one.
 */
export function isUnderstandable(document: JsonObject, depth = 0): boolean {
  const { '@context': context, proof, signature, object, ...statements } = document
  const proofs = asArray(proof)
  const contexts = [context, ...proofs.filter(isObject).map((one) => one['@context'])]
  const parts = [
    statements,
    ...proofs.map((one) => (isObject(one) ? without(one, '@context') : one)),
    // Its own context has no effect: that of signatures stands in its place.
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
  // A prefix that is said by another prefix makes names that are much longer than the document.
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

/** Whether a term, or what it is the prefix of, stands for things without an address. */
const namesBlank = (meaning: unknown): boolean =>
  isObject(meaning) ? Object.values(meaning).some(namesBlank) : typeof meaning === 'string' && meaning.startsWith('_:')

/** Without contexts, and without keywords that reshape. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'string') return !RESHAPING.has(value)
  if (Array.isArray(value)) return value.every(isPlain)
  if (!isObject(value)) return true
  return Object.entries(value).every(([key, inner]) => key !== '@context' && !RESHAPING.has(key) && isPlain(inner))
}

/** More things without an address than this are in no activity that others pass on; a video with all its files has about 150. */
const MOST_NAMELESS = 400
/** Values in all; a video with all its files and many captions has some 2,000. */
const MOST_VALUES = 3_000

/**
 * Whether canonicalising would take long: each value is a statement, and things without an address are told apart by all that is
 * around them, which takes seconds for some thousands. Items of a list are such things too, and names that begin with `_:` address
 * nothing.
 */
export function isTangled(document: JsonObject): boolean {
  let nameless = 0
  let values = 0
  const isBlank = (text: unknown): boolean => typeof text === 'string' && text.startsWith('_:')
  const exceeds = (value: unknown, isItem: boolean): boolean => {
    if (Array.isArray(value)) return value.some((one) => exceeds(one, true))
    values += 1
    if (values > MOST_VALUES) return true
    if (!isObject(value)) {
      if (isItem || isBlank(value)) nameless += 1
      return nameless > MOST_NAMELESS
    }
    if (isItem || typeof value.id !== 'string') nameless += 1
    return (
      nameless > MOST_NAMELESS ||
      Object.entries(value).some(([key, inner]) => {
        if (isBlank(key)) nameless += 1
        return key !== '@context' && exceeds(inner, false)
      })
    )
  }
  return exceeds(document, false)
}
