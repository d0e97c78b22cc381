import { signJsonLd, signObject, verifyJsonLd, verifyObject } from '@fedify/fedify/sig'
import { Activity, CryptographicKey, Follow, Multikey } from '@fedify/vocab'
import { importPem } from '@fedify/vocab-runtime'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { canonicalJson } from '../../../src/federation/security/canonical-json.ts'
import { isUnderstandable, loadBundledContext } from '../../../src/federation/security/contexts.ts'
import {
  type FindKey,
  makeDocumentChecks,
  multibaseOfPem,
  pemOfMultibase,
  signDocument,
  verifyDocument,
} from '../../../src/federation/security/index.ts'
import { buildCreate, type JsonObject, readCreate, readNote, readVideo } from '../../../src/federation/wire/index.ts'
import { type Logger, silentLogger } from '../../../src/platform/logger.ts'
import { ed25519Key, finding, rsaKey, type TestKey } from './keys.ts'
import { PEER, rawVectors, recordedActivities, recordedObject } from './recordings.ts'

const NOW = new Date('2026-11-20T19:02:17.158Z')

let rsa: TestKey
let ed25519: TestKey
let mallory: TestKey
beforeAll(async () => {
  rsa = await rsaKey(`${PEER}/accounts/obj_second#main-key`)
  ed25519 = await ed25519Key(`${PEER}/accounts/obj_second#ed25519-key`)
  mallory = await rsaKey('https://mallory.example/accounts/mallory#main-key')
})

const checks = makeDocumentChecks({ logger: silentLogger })
afterAll(() => checks.close())

const comment = (): JsonObject => recordedObject('comment-thread-activity')
const verify = (document: JsonObject, findKey: FindKey = finding(rsa, ed25519, mallory)) =>
  verifyDocument(document, { findKey, checks, now: NOW })

const changed = (document: JsonObject, change: (copy: JsonObject & { object: JsonObject }) => void): JsonObject => {
  const copy = structuredClone(document) as JsonObject & { object: JsonObject }
  change(copy)
  return copy
}

const refuseFetch = async (url: string): Promise<never> => {
  throw new Error(`fetched ${url}`)
}

it('can be checked later when no thread starts', async () => {
  const errors: unknown[] = []
  const logger = { ...silentLogger, error: (...said: unknown[]) => errors.push(said) } as unknown as Logger
  const failing = makeDocumentChecks({ logger, module: new URL('./missing.ts', import.meta.url) })
  const signed = await signDocument(comment(), { rsa }, NOW)
  expect(await verifyDocument(signed, { findKey: finding(rsa), checks: failing, now: NOW })).toMatchObject({ ok: false, reason: 'busy' })
  expect(errors).toHaveLength(1)
  await failing.close()
})

describe('recorded documents', () => {
  const verifyVector = (document: JsonObject, pem: string) =>
    verifyDocument(document, {
      checks,
      now: NOW,
      minRsaBits: 1024,
      findKey: async (keyId) => ({ pem, owner: keyId, fetchedAt: NOW }),
    })

  it('have valid signatures', async () => {
    for (const { rawBody, publicKeyPem } of rawVectors().fromPeer) {
      const document = JSON.parse(rawBody) as JsonObject
      expect(await verifyVector(document, publicKeyPem)).toMatchObject({
        ok: true,
        by: 'ld-signature',
        owner: document.actor,
        document: { id: document.id, type: document.type, actor: document.actor },
      })
    }
  })

  it('are refused when a text or the signature is changed', async () => {
    const vector = rawVectors().fromPeer.at(-1)
    const document = JSON.parse(vector?.rawBody ?? '{}') as JsonObject & { signature: JsonObject }
    const pem = vector?.publicKeyPem ?? ''
    const altered = changed(document, ({ object }) => {
      object.content = 'raw comment with e and emoji 🎈'
    })
    expect(await verifyVector(altered, pem)).toMatchObject({ ok: false, reason: 'bad-signature' })
    const value = String(document.signature.signatureValue)
    for (const signature of [
      { ...document.signature, signatureValue: value.replace(/^./, (char) => (char === 'A' ? 'B' : 'A')) },
      { ...document.signature, created: '2026-11-20T19:02:26.852Z' },
    ])
      expect(await verifyVector({ ...document, signature }, pem)).toMatchObject({ ok: false, reason: 'bad-signature' })
  })
})

describe('a locally signed document', () => {
  it('is verified here, by the proof or by the signature alone', async () => {
    const signed = await signDocument(comment(), { rsa, ed25519 }, NOW)
    expect(await verify(signed)).toMatchObject({ ok: true, by: 'proof', keyId: ed25519.keyId, owner: ed25519.owner })
    const { proof: _proof, ...rest } = await signDocument(comment(), { rsa }, NOW)
    expect(_proof).toBeUndefined()
    expect(await verify(rest)).toMatchObject({ ok: true, by: 'ld-signature', keyId: rsa.owner, owner: rsa.owner })
  })

  it('is otherwise unchanged', async () => {
    const document = comment()
    const before = structuredClone(document)
    const { signature, '@context': _context, ...rest } = await signDocument(document, { rsa }, NOW)
    expect(document).toEqual(before)
    const { '@context': _same, ...plain } = before
    expect(rest).toEqual(plain)
    expect(signature).toEqual({
      type: 'RsaSignature2017',
      creator: rsa.owner,
      created: expect.any(String),
      signatureValue: expect.any(String),
    })
  })

  it('is verified by Fedify, signature and proof', async () => {
    const signed = await signDocument(comment(), { rsa, ed25519 }, NOW)
    const key = new CryptographicKey({
      id: new URL(rsa.keyId),
      owner: new URL(rsa.owner),
      publicKey: await importPem(rsa.publicPem),
    })
    const multikey = new Multikey({
      id: new URL(ed25519.keyId),
      controller: new URL(ed25519.owner),
      publicKey: await importPem(ed25519.publicPem),
    })
    const loaders = { contextLoader: loadBundledContext, documentLoader: refuseFetch }
    expect(await verifyJsonLd(signed, { ...loaders, keyCache: { get: async () => key, set: async () => {} } })).toBe(true)
    const { signature: _signature, ...unsigned } = signed
    const found = await verifyObject(Activity, unsigned, {
      ...loaders,
      keyCache: { get: async () => multikey, set: async () => {} },
    })
    expect(found?.id?.href).toBe(comment().id)
  })

  it('of a video with all its files keeps everything that PeerTube reads', async () => {
    const create = recordedActivities('55-create-video-with-transcoding').find(({ type }) => type === 'Create') ?? {}
    const owner = String(create.actor)
    const key = { ...rsa, keyId: `${owner}#main-key`, owner }
    const signed = await signDocument(create, { rsa: key }, NOW)
    const verdict = await verify(signed, finding(key))
    if (!verdict.ok) throw new Error(verdict.reason)
    const [sent, trusted] = [readCreate(create), readCreate(verdict.document)]
    if (!sent.ok || !trusted.ok) throw new Error('unreadable')
    const [video, trustedVideo] = [readVideo(sent.value.object.document), readVideo(trusted.value.object.document)]
    expect(trustedVideo.ok).toBe(true)
    expect(trustedVideo).toEqual(video)
  })

  it('documents of Fedify are verified here', async () => {
    const follow = new Follow({
      id: new URL(`${PEER}/follows/1`),
      actor: new URL(rsa.owner),
      object: new URL('https://video.example/accounts/x'),
    })
    const loaders = { contextLoader: loadBundledContext, documentLoader: refuseFetch }
    const plain = (await follow.toJsonLd({ format: 'compact', ...loaders })) as JsonObject
    const byLd = (await signJsonLd(plain, rsa.privateKey, new URL(rsa.keyId), loaders)) as unknown
    expect(await verify(byLd as JsonObject)).toMatchObject({ ok: true, by: 'ld-signature' })
    const proven = await signObject(follow, ed25519.privateKey, new URL(ed25519.keyId), loaders)
    const byProof = (await proven.toJsonLd({ format: 'compact', ...loaders })) as JsonObject
    expect(await verify(byProof)).toMatchObject({ ok: true, by: 'proof', owner: ed25519.owner })
  })
})

describe('manipulated LD signatures', () => {
  it('an altered text, another actor and another key are refused', async () => {
    const signed = await signDocument(comment(), { rsa }, NOW)
    const altered = changed(signed, ({ object }) => {
      object.content = 'other'
    })
    expect(await verify(altered)).toMatchObject({ ok: false, reason: 'bad-signature' })
    expect(await verify(signed, finding({ ...mallory, keyId: rsa.keyId, owner: rsa.owner }))).toMatchObject({
      reason: 'bad-signature',
    })
    const forged = await signDocument(comment(), { rsa: mallory }, NOW)
    expect(await verify(forged)).toMatchObject({ ok: false, reason: 'not-by-actor' })
  })

  it('undefined keys, added after signing, are not trusted', async () => {
    const follow: JsonObject = {
      '@context': ['https://www.w3.org/ns/activitystreams', 'https://w3id.org/security/v1'],
      type: 'Create',
      id: `${PEER}/notes/1/activity`,
      actor: rsa.owner,
      object: { type: 'Note', id: `${PEER}/notes/1`, content: 'signed' },
    }
    const signed = await signDocument(follow, { rsa }, NOW)
    const extended = changed(signed, ({ object }) => {
      object.views = 1_000_000
      object.replyApproval = 'https://mallory.example/approval'
    })
    // jsonld refuses keys that would be lost; if it dropped them, they would be missing in the trusted document.
    const verdict = await verify(extended)
    expect(verdict.ok ? verdict.document.object : follow.object).toEqual(follow.object)
    expect(await verify(signed)).toMatchObject({ ok: true, document: { object: follow.object } })
  })

  it('a context that redefines terms does not deceive', async () => {
    const signed = await signDocument(comment(), { rsa }, NOW)
    const deceiving = changed(signed, (copy) => {
      copy['@context'] = [
        ...(copy['@context'] as unknown[]),
        { real: 'https://www.w3.org/ns/activitystreams#content', content: 'https://mallory.example/nothing' },
      ]
      copy.object.real = copy.object.content
      copy.object.content = 'what she never said'
    })
    const verdict = await verify(deceiving)
    const content = verdict.ok ? (verdict.document.object as JsonObject).content : undefined
    expect(content).not.toBe('what she never said')
    expect(verdict.ok ? content : 'thread').toBe('thread')
  })

  it('the actor cannot be hidden behind another term', async () => {
    const signed = await signDocument(comment(), { rsa }, NOW)
    const hidden = changed(signed, (copy) => {
      copy['@context'] = [
        ...(copy['@context'] as unknown[]),
        {
          real: { '@id': 'https://www.w3.org/ns/activitystreams#actor', '@type': '@id' },
          actor: 'https://mallory.example/nothing',
        },
      ]
      copy.real = copy.actor
      copy.actor = mallory.owner
    })
    expect(await verify(hidden)).toMatchObject({ ok: false })
  })

  it.each(['@graph', '@included', '@reverse', '@nest'])('a document with %s is refused', async (keyword) => {
    const signed = await signDocument(comment(), { rsa }, NOW)
    expect(await verify({ ...signed, [keyword]: [] })).toMatchObject({ ok: false, reason: 'unverifiable' })
    const alias = changed(signed, (copy) => {
      copy['@context'] = [...(copy['@context'] as unknown[]), { alias: keyword }]
    })
    expect(await verify(alias)).toMatchObject({ ok: false, reason: 'unverifiable' })
  })

  it('a scoped context, an embedded one, and terms for blank ids are refused', async () => {
    const signed = await signDocument(comment(), { rsa }, NOW)
    const terms = [
      { s: { '@id': 'as:s', '@context': {} } },
      { s: { '@id': 'as:s', '@context': 'https://w3id.org/security/v1' } },
      { s: '_:s' },
      { s: { '@id': '_:s', '@prefix': true } },
      { id: 'as:id' },
      { type: { '@id': 'as:id' } },
      null,
    ]
    for (const term of terms) {
      const played = changed(signed, (copy) => {
        copy['@context'] = [...(copy['@context'] as unknown[]), term]
      })
      expect(await verify(played)).toMatchObject({ ok: false, reason: 'unverifiable' })
    }
    const inside = changed(signed, ({ object }) => {
      object.tag = [{ '@context': 'https://www.w3.org/ns/activitystreams' }]
    })
    expect(await verify(inside)).toMatchObject({ ok: false, reason: 'unverifiable' })
    const nameless = { ...signed, '@context': [{ ex: 'https://a.example/ns#' }] }
    expect(await verify(nameless)).toMatchObject({ ok: false, reason: 'unverifiable' })
  })

  it('a context in the embedded object, as in an Update of a PeerTube actor, is read', async () => {
    const { '@context': context } = comment()
    const own = changed(comment(), ({ object }) => {
      object['@context'] = context
    })
    expect(await verify(await signDocument(own, { rsa }, NOW))).toMatchObject({ ok: true, by: 'ld-signature' })
  })

  it('a note of Mastodon with its context is read', async () => {
    const context = {
      ostatus: 'http://ostatus.org#',
      atomUri: 'ostatus:atomUri',
      conversation: 'ostatus:conversation',
      inReplyToAtomUri: 'ostatus:inReplyToAtomUri',
      sensitive: 'as:sensitive',
      Hashtag: 'as:Hashtag',
      toot: 'http://joinmastodon.org/ns#',
      votersCount: 'toot:votersCount',
      blurhash: 'toot:blurhash',
      focalPoint: { '@container': '@list', '@id': 'toot:focalPoint' },
      Emoji: 'toot:Emoji',
      gts: 'https://gotosocial.org/ns#',
      interactionPolicy: { '@id': 'gts:interactionPolicy', '@type': '@id' },
      canQuote: { '@id': 'gts:canQuote', '@type': '@id' },
    }
    const note = {
      type: 'Note',
      id: `${PEER}/notes/1`,
      attributedTo: rsa.owner,
      content: '<p>Hello</p>',
      contentMap: { en: '<p>Hello</p>' },
      inReplyTo: 'https://video.example/videos/watch/1',
      published: '2026-11-20T19:02:16Z',
      sensitive: false,
      to: ['https://www.w3.org/ns/activitystreams#Public'],
      cc: [`${rsa.owner}/followers`],
      tag: [
        { type: 'Mention', href: 'https://video.example/accounts/x', name: '@x@video.example' },
        { type: 'Hashtag', href: `${PEER}/tags/a`, name: '#a' },
      ],
      attachment: [{ type: 'Document', mediaType: 'image/png', url: `${PEER}/1.png`, blurhash: 'U', focalPoint: [0, 0.5] }],
      interactionPolicy: { canQuote: { automaticApproval: ['https://www.w3.org/ns/activitystreams#Public'] } },
      replies: { id: `${PEER}/notes/1/replies`, type: 'Collection', first: { type: 'CollectionPage', items: [] } },
    }
    const create = {
      '@context': [
        'https://www.w3.org/ns/activitystreams',
        { ...context, automaticApproval: { '@id': 'gts:automaticApproval', '@type': '@id' } },
      ],
      type: 'Create',
      id: `${PEER}/notes/1/activity`,
      actor: rsa.owner,
      published: note.published,
      to: note.to,
      cc: note.cc,
      object: note,
    }
    const verdict = await verify(await signDocument(create, { rsa }, NOW))
    expect(verdict).toMatchObject({ ok: true, by: 'ld-signature' })
    const read = verdict.ok ? readNote(verdict.document.object) : undefined
    expect(read).toMatchObject({ ok: true, value: { id: note.id, content: note.content, inReplyTo: note.inReplyTo } })
  })

  it('an unknown context is not fetched: the document is unverifiable', async () => {
    const signed = await signDocument(comment(), { rsa }, NOW)
    for (const context of ['https://mallory.example/context', 'file:///etc/passwd', 'http://127.0.0.1/'])
      expect(await verify({ ...signed, '@context': [context] })).toMatchObject({ ok: false, reason: 'unverifiable' })
    const inside = changed(signed, ({ object }) => {
      object['@context'] = 'https://mallory.example/context'
    })
    expect(await verify(inside)).toMatchObject({ ok: false, reason: 'unverifiable' })
    await expect(loadBundledContext('https://mallory.example/context')).rejects.toThrow('unknown')
  })

  it('a missing signature, an incomplete one and an unknown key are distinguished', async () => {
    expect(await verify(comment())).toEqual({ ok: false, reason: 'unsigned' })
    for (const signature of ['text', {}, { type: 'Other' }, { type: 'RsaSignature2017', creator: 1 }, []])
      expect(await verify({ ...comment(), signature })).toMatchObject({ ok: false, reason: 'malformed' })
    const signed = await signDocument(comment(), { rsa }, NOW)
    expect(await verify(signed, async () => null)).toEqual({
      ok: false,
      reason: 'unknown-key',
      unknownKey: rsa.owner,
    })
  })

  it('small keys are refused', async () => {
    const small = await rsaKey(rsa.keyId, 1024)
    const signed = await signDocument(comment(), { rsa: small }, NOW)
    expect(await verify(signed, finding(small))).toMatchObject({ ok: false, reason: 'weak-key' })
  })
})

describe('object proofs', () => {
  it('cover every byte: anything added, removed or altered is refused', async () => {
    const { signature: _signature, ...signed } = await signDocument(comment(), { rsa, ed25519 }, NOW)
    expect(await verify(signed)).toMatchObject({ ok: true, by: 'proof' })
    for (const change of [
      (copy: JsonObject) => ({ ...copy, extra: 1 }),
      (copy: JsonObject) => ({ ...copy, to: [] }),
      ({ cc: _cc, ...copy }: JsonObject) => copy,
      (copy: JsonObject) => ({ ...copy, '@context': 'https://www.w3.org/ns/activitystreams' }),
    ])
      expect(await verify(change(signed))).toMatchObject({ ok: false })
  })

  it('of another actor, or by another key, are refused', async () => {
    const other = await ed25519Key('https://mallory.example/accounts/mallory#ed25519-key')
    const { signature: _signature, ...forged } = await signDocument(comment(), { rsa, ed25519: other }, NOW)
    expect(await verify(forged, finding(other))).toMatchObject({ ok: false, reason: 'not-by-actor' })
    const renamed = { ...other, keyId: ed25519.keyId, owner: ed25519.owner }
    const { signature: _other, ...swapped } = await signDocument(comment(), { rsa, ed25519: renamed }, NOW)
    expect(await verify(swapped)).toMatchObject({ ok: false, reason: 'bad-signature' })
  })

  it('a wrong proof does not invalidate a right signature', async () => {
    const signed = await signDocument(comment(), { rsa, ed25519 }, NOW)
    expect(await verify(signed, finding(rsa))).toMatchObject({ ok: true, by: 'ld-signature' })
  })

  it.each([
    { proofPurpose: 'authentication' },
    { cryptosuite: 'eddsa-rdfc-2022' },
    { type: 'Ed25519Signature2020' },
    { proofValue: 'z' },
    { proofValue: 'x!!!' },
    { proofValue: 1 },
    { verificationMethod: null },
    { expires: '2026-11-20T19:02:16Z' },
  ])('%j is refused', async (change) => {
    const { signature: _signature, ...signed } = await signDocument(comment(), { rsa, ed25519 }, NOW)
    const proof = { ...(signed.proof as JsonObject), ...change }
    expect(await verify({ ...signed, proof })).toMatchObject({ ok: false })
  })

  it('of another actor, and of a document that is too large, are not checked', async () => {
    const untouched = { check: () => Promise.reject(new Error('looked at')) }
    const { signature: _signature, ...signed } = await signDocument(comment(), { rsa, ed25519 }, NOW)
    const verdictOf = (document: JsonObject, findKey: FindKey = finding(ed25519)) =>
      verifyDocument(document, { findKey, checks: untouched, now: NOW })
    expect(await verdictOf({ ...signed, actor: mallory.owner })).toMatchObject({ reason: 'not-by-actor' })
    expect(await verdictOf({ ...signed, summary: 'x'.repeat(200_000) })).toMatchObject({ reason: 'too-large' })
    expect(await verdictOf({ ...(await signDocument(comment(), { rsa: mallory }, NOW)) }, finding(mallory))).toMatchObject({
      reason: 'not-by-actor',
    })
  })

  it('an RSA key is not valid for a proof', async () => {
    const { signature: _signature, ...signed } = await signDocument(comment(), { rsa, ed25519 }, NOW)
    const findKey: FindKey = async () => ({ pem: rsa.publicPem, owner: ed25519.owner, fetchedAt: NOW })
    expect(await verify(signed, findKey)).toMatchObject({ ok: false, reason: 'weak-key' })
  })
})

it('Multikeys keep their key through PEM and back', async () => {
  const multibase = await multibaseOfPem(ed25519.publicPem)
  expect(multibase).toMatch(/^z6Mk/)
  expect(await pemOfMultibase(multibase)).toBe(ed25519.publicPem)
  expect(await pemOfMultibase('z6Mkbroken')).toBeUndefined()
  expect(await pemOfMultibase('')).toBeUndefined()
  expect(await pemOfMultibase(await multibaseOfPem(rsa.publicPem))).toBe(rsa.publicPem)
})

it('canonical JSON is that of RFC 8785', () => {
  expect(
    canonicalJson({
      numbers: [333333333.3333333, 1e30, 4.5, 0.002, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\nA\'B"\\\\"/',
      literals: [null, true, false],
    }),
  ).toBe('{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}')
  expect(canonicalJson({ '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7 })).toBe(
    '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
  )
})

it('the contexts of all local documents, and bundled ones of others, are supported', () => {
  expect(isUnderstandable(buildCreate({ id: 'https://a.example/1', actor: 'https://a.example/', object: comment(), to: [], cc: [] }))).toBe(
    true,
  )
  expect(
    isUnderstandable({
      '@context': [
        'https://www.w3.org/ns/activitystreams',
        'https://w3id.org/security/data-integrity/v2',
        'https://join-lemmy.org/context.json',
        'https://gotosocial.org/ns',
        'https://purl.archive.org/socialweb/webfinger',
        { toot: 'http://joinmastodon.org/ns#' },
      ],
    }),
  ).toBe(true)
  expect(isUnderstandable({ '@context': Array(200).fill('https://www.w3.org/ns/activitystreams') })).toBe(false)
})

it('a rewritten comment reads as the same comment after verification', async () => {
  const signed = await signDocument(comment(), { rsa }, NOW)
  const verdict = await verify(signed)
  if (!verdict.ok) throw new Error(verdict.reason)
  expect(readNote(verdict.document.object)).toEqual(readNote(comment().object))
})
