// Activities with embedded signatures that are expensive to canonicalise. All signatures are invalid.

import type { JsonObject } from './fake-peer.ts'

const AS = 'https://www.w3.org/ns/activitystreams'
let serial = 0

export interface Claim {
  actor: string
  /** Key id in the signature. */
  creator: string
}

const range = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))

function signedBy({ actor, creator }: Claim, context: unknown[], more: JsonObject): JsonObject {
  const id = `${new URL(actor).origin}/hostile/${++serial}`
  return {
    '@context': [AS, 'https://w3id.org/security/v1', ...context],
    id,
    type: 'Create',
    actor,
    to: [`${AS}#Public`],
    object: { id: `${id}/note`, type: 'Note', attributedTo: actor, content: 'Hello', ...more },
    signature: { type: 'RsaSignature2017', creator, created: new Date().toISOString(), signatureValue: 'AAAA' },
  }
}

const VOCABULARY = 'https://hostile.example/ns#'

/** A term with a nested context of 2,000 terms, on 1,000 nodes: some 60 kB. */
export const scopedContext = (claim: Claim, terms = 2_000, nodes = 1_000): JsonObject =>
  signedBy(
    claim,
    [
      {
        ex: VOCABULARY,
        s: { '@id': 'ex:s', '@context': Object.fromEntries(range(terms, (at) => [`t${at}`, `ex:${at}`])) },
      },
    ],
    { s: range(nodes, (at) => ({ id: `ex:n${at}` })) },
  )

/** Many nodes, each with its own context. */
export const nestedContexts = (claim: Claim): JsonObject =>
  signedBy(claim, [{ ex: VOCABULARY, n: 'ex:n' }], {
    n: range(90, (at) => ({
      '@context': Object.fromEntries(range(20, (term) => [`t${term}`, `ex:${at}`])),
      id: `${VOCABULARY}${at}`,
    })),
  })

/** A cycle of nodes that refer to each other by blank node ids: some 160 kB. */
export const ringOfBlankIds = (claim: Claim, nodes = 3_000): JsonObject =>
  signedBy(claim, [{ ex: VOCABULARY, next: { '@id': 'ex:next', '@type': '@id' } }], {
    next: range(nodes, (at) => ({ id: `_:b${at}`, next: `_:b${(at + 1) % nodes}` })),
  })

/** The same, with ids that only become blank by the context, or that are not in `id`. */
export const disguisedRings = (claim: Claim, nodes = 3_000): JsonObject[] => {
  const ring = (prefix: string, id: string) => range(nodes, (at) => ({ [id]: `${prefix}${at}`, next: `${prefix}${(at + 1) % nodes}` }))
  const next = { '@id': `${VOCABULARY}next`, '@type': '@id' }
  return [
    signedBy(claim, [{ next, b: { '@id': '_:b', '@prefix': true } }], { next: ring('b:', 'id') }),
    signedBy(claim, [{ next, id: `${VOCABULARY}id`, real: '@id' }], { next: ring('_:', 'real') }),
    signedBy(claim, [{ next, id: `${VOCABULARY}id` }], { next: ring('https://a.example/', 'id') }),
    signedBy(claim, [{ next, real: '@id' }], { next: ring('_:', 'real') }),
    signedBy(claim, [{ map: { '@id': `${VOCABULARY}m`, '@container': '@id' }, next }], {
      map: Object.fromEntries(range(nodes, (at) => [`_:b${at}`, { next: `_:b${(at + 1) % nodes}` }])),
    }),
    signedBy(claim, [{ list: { '@id': `${VOCABULARY}l`, '@container': '@list' } }], {
      list: Array(nodes).fill('same'),
    }),
    signedBy(claim, [{ graph: { '@id': `${VOCABULARY}g`, '@container': '@graph' } }], {
      graph: range(nodes, (at) => ({ id: `${VOCABULARY}${at}`, type: 'Note' })),
    }),
  ]
}

const statements = (count: number): JsonObject => Object.fromEntries(range(count, (at) => [`as:p${at}`, `v${at}`]))

/** Enough statements with ids to take half a second to canonicalise: some 150 kB. */
export const manyStatements = (claim: Claim): JsonObject => signedBy(claim, [], statements(8_000))

/** Statements whose ids expand, by prefixes, to much more than the size of the document. */
export const longNames = (claim: Claim): JsonObject[] => {
  const named = (prefix: string) => Object.fromEntries(range(2_900, (at) => [`${prefix}:${at}`, at]))
  const chain = range(900, (at) => [`p${at}`, at === 0 ? VOCABULARY : `p${at - 1}:${'x'.repeat(100)}#`])
  return [
    signedBy(claim, [{ long: `${VOCABULARY}${'x'.repeat(1_900)}#` }], named('long')),
    signedBy(claim, [Object.fromEntries(chain)], named('p899')),
    signedBy(
      claim,
      range(17, (at) => ({ '@vocab': at === 0 ? VOCABULARY : 'x'.repeat(190) })),
      Object.fromEntries(range(2_900, (at) => [`n${at}`, at])),
    ),
  ]
}

/** The most expensive document that passes all bounds and reaches a worker thread. */
export const withinBounds = (claim: Claim): JsonObject[] => [
  signedBy(claim, [{ next: { '@id': `${VOCABULARY}next`, '@type': '@id' } }], {
    next: range(190, (at) => ({ id: `_:b${at}`, next: `_:b${(at + 1) % 190}` })),
  }),
  signedBy(claim, [], { tag: range(390, () => ({})) }),
  signedBy(claim, [{ list: { '@id': `${VOCABULARY}l`, '@container': '@list' } }], { list: Array(390).fill('same') }),
  signedBy(claim, [Object.fromEntries(range(990, (at) => [`t${at}`, `${VOCABULARY}${at}`]))], {
    ...Object.fromEntries(range(990, (at) => [`t${at}`, 'x'.repeat(100)])),
  }),
  signedBy(claim, [{ long: `${VOCABULARY}${'x'.repeat(150)}#` }], {
    ...Object.fromEntries(range(2_900, (at) => [`long:${at}`, at])),
  }),
  signedBy(claim, [], statements(2_900)),
  signedBy(claim, [], { tag: [], ...deep(12) }),
]

const deep = (levels: number): JsonObject =>
  levels === 0 ? {} : { tag: { type: 'Note', attachment: { type: 'Note', ...deep(levels - 2) } } }

/** A small activity with an invalid signature: checking it is the only cost. */
export const wronglySigned = (claim: Claim): JsonObject => signedBy(claim, [], {})
