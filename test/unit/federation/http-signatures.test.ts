import { createHash, createSign } from 'node:crypto'
import { verifyRequest } from '@fedify/fedify/sig'
import { CryptographicKey } from '@fedify/vocab'
import { importPem } from '@fedify/vocab-runtime'
import { beforeAll, describe, expect, it } from '@jest/globals'
import {
  type FindKey,
  makePrivateKeyRing,
  type SignatureProfile,
  signOutgoing,
  verifyInbound,
} from '../../../src/federation/security/index.ts'
import { finding, rsaKey, type TestKey } from './keys.ts'
import { type RawVector, rawVectors } from './recordings.ts'

const NOW = new Date('2026-11-20T19:02:17Z')
const URL_OF_INBOX = 'https://video.example/inbox'
const BODY = Buffer.from('{"type":"Follow"}')
const MINUTE = 60_000

let alice: TestKey
beforeAll(async () => {
  alice = await rsaKey('https://peer.example/accounts/alice#main-key')
})

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64')

/** Signs by hand, so that each part can be wrong. */
function cavage(
  change: {
    key?: TestKey
    names?: string[]
    headers?: Record<string, string>
    target?: string
    parameters?: Record<string, string | number | undefined>
    algorithm?: string
    hash?: string
  } = {},
): Record<string, string> {
  const key = change.key ?? alice
  const headers: Record<string, string> = {
    host: 'video.example',
    date: NOW.toUTCString(),
    digest: `SHA-256=${sha256(BODY)}`,
    ...change.headers,
  }
  const names = change.names ?? ['(request-target)', 'host', 'date', 'digest']
  const parameters = change.parameters ?? {}
  const lines = names.map((name) => {
    if (name === '(request-target)') return `${name}: ${change.target ?? 'post /inbox'}`
    if (name === '(created)') return `${name}: ${parameters.created}`
    if (name === '(expires)') return `${name}: ${parameters.expires}`
    return `${name}: ${headers[name]}`
  })
  const signature = createSign(change.hash ?? 'sha256')
    .update(lines.join('\n'))
    .sign(key.privatePem, 'base64')
  const all = {
    keyId: key.keyId,
    algorithm: change.algorithm ?? 'rsa-sha256',
    headers: names.join(' '),
    ...parameters,
    signature,
  }
  const written = Object.entries(all)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => (typeof value === 'number' ? `${name}=${value}` : `${name}="${value}"`))
  return { ...headers, signature: written.join(',') }
}

const verdict = (
  headers: Record<string, string | string[]>,
  change: { method?: string; url?: string; rawBody?: Buffer; now?: Date; findKey?: FindKey; minRsaBits?: number } = {},
) =>
  verifyInbound({
    method: 'POST',
    url: URL_OF_INBOX,
    rawBody: BODY,
    now: NOW,
    findKey: finding(alice),
    headers,
    ...change,
  })

const reason = async (...args: Parameters<typeof verdict>) => {
  const found = await verdict(...args)
  return found.ok ? 'accepted' : found.reason
}

describe('requests that were recorded', () => {
  const verify = (vector: RawVector, change: Partial<RawVector> & { minRsaBits?: number; host?: string } = {}) => {
    const { method, path, headers, rawBody } = { ...vector, ...change }
    return verifyInbound({
      method,
      url: `http://${change.host ?? vector.headers.host}${path}`,
      headers,
      rawBody: Buffer.from(rawBody),
      now: new Date(vector.headers.date ?? ''),
      minRsaBits: change.minRsaBits ?? 1024,
      findKey: async (keyId) => ({ pem: vector.publicKeyPem, owner: keyId, fetchedAt: NOW }),
    })
  }

  it('are verified: deliveries and fetches of the reference, and what it accepts', async () => {
    const { fromPeer, signedFetches, accepted } = rawVectors()
    expect(fromPeer.length + signedFetches.length).toBeGreaterThan(5)
    for (const vector of [...fromPeer, ...signedFetches, accepted])
      expect(await verify(vector)).toMatchObject({
        ok: true,
        keyId: /keyId="([^"]+)"/.exec(vector.headers.signature ?? '')?.[1],
      })
  })

  it('are refused when one bit is different anywhere', async () => {
    const [vector] = rawVectors().fromPeer
    if (!vector) throw new Error('no vector')
    const flip = (text: string, at: number) => text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1)
    const signature = vector.headers.signature ?? ''
    const start = signature.indexOf('signature="') + 'signature="'.length
    expect(await verify(vector, { rawBody: flip(vector.rawBody, 100) })).toMatchObject({ reason: 'bad-digest' })
    expect(await verify(vector, { path: flip(vector.path, 3) })).toMatchObject({ reason: 'bad-signature' })
    expect(await verify(vector, { method: 'PUT' })).toMatchObject({ reason: 'bad-signature' })
    expect(await verify(vector, { host: '127.0.0.1:9032' })).toMatchObject({ reason: 'wrong-host' })
    for (const at of [start, start + 40, start + 100])
      expect(await verify(vector, { headers: { ...vector.headers, signature: flip(signature, at) } })).toMatchObject({
        reason: 'bad-signature',
      })
    const later = { ...vector.headers, date: new Date(Date.parse(vector.headers.date ?? '') + 1000).toUTCString() }
    expect(await verify(vector, { headers: later })).toMatchObject({ reason: 'bad-signature' })
  })

  it('are refused for their small keys, as a rule', async () => {
    const [vector] = rawVectors().fromPeer
    expect(vector && (await verify(vector, { minRsaBits: 2048 }))).toMatchObject({ ok: false, reason: 'weak-key' })
  })
})

describe('draft-cavage', () => {
  it('a good signature tells the key and its owner', async () => {
    expect(await verdict(cavage())).toEqual({ ok: true, keyId: alice.keyId, owner: alice.owner })
  })

  it('is accepted as hs2019, with more headers, in the Authorization header, and without a fragment', async () => {
    expect(await reason(cavage({ algorithm: 'hs2019' }))).toBe('accepted')
    const names = ['(request-target)', 'host', 'date', 'digest', 'content-type']
    expect(await reason(cavage({ names, headers: { 'content-type': 'application/activity+json' } }))).toBe('accepted')
    const { signature, ...rest } = cavage()
    expect(await reason({ ...rest, authorization: `Signature ${signature}` })).toBe('accepted')
    expect(await reason(cavage({ key: { ...alice, keyId: alice.owner } }))).toBe('accepted')
  })

  it('the query may be signed or not', async () => {
    const url = `${URL_OF_INBOX}?page=1`
    expect(await reason(cavage({ target: 'post /inbox?page=1' }), { url })).toBe('accepted')
    expect(await reason(cavage({ target: 'post /inbox' }), { url })).toBe('accepted')
    expect(await reason(cavage({ target: 'post /inbox?page=2' }), { url })).toBe('bad-signature')
  })

  it('a key in the acct form is looked up as it is', async () => {
    const key = { ...alice, keyId: 'acct:alice@peer.example' }
    expect(await reason(cavage({ key }), { findKey: finding(key) })).toBe('accepted')
  })

  it('created may stand for the date', async () => {
    const names = ['(request-target)', '(created)', 'host', 'digest']
    const created = NOW.getTime() / 1000
    const signed = (change: object) => cavage({ names, algorithm: 'hs2019', ...change })
    expect(await reason(signed({ parameters: { created } }))).toBe('accepted')
    expect(await reason(signed({ parameters: { created: created - 1860 } }))).toBe('bad-date')
    expect(await reason(signed({ parameters: { created: created + 1860 } }))).toBe('bad-date')
    expect(await reason(signed({ parameters: { created }, algorithm: 'rsa-sha256' }))).toBe('uncovered')
  })

  it('an expired signature is refused', async () => {
    const at = NOW.getTime() / 1000
    expect(await reason(cavage({ parameters: { expires: at + 10 } }))).toBe('accepted')
    expect(await reason(cavage({ parameters: { expires: at - 10 } }))).toBe('expired')
  })

  it.each([
    [29, 'accepted'],
    [-29, 'accepted'],
    [31, 'bad-date'],
    [-31, 'bad-date'],
  ])('a date %i minutes off is %s', async (minutes, expected) => {
    const date = new Date(NOW.getTime() + minutes * MINUTE).toUTCString()
    expect(await reason(cavage({ headers: { date } }))).toBe(expected)
  })

  it.each(['yesterday', '', 'NaN'])('the date "%s" is refused', async (date) => {
    expect(await reason(cavage({ headers: { date } }))).toBe('bad-date')
  })

  it.each(['(request-target)', 'host', 'date', 'digest'])('a signature that does not cover %s is refused', async (name) => {
    const names = ['(request-target)', 'host', 'date', 'digest'].filter((one) => one !== name)
    expect(await reason(cavage({ names }))).toBe('uncovered')
  })

  it('a digest that is absent, wrong, weak or of other bytes is refused', async () => {
    const { digest: _digest, ...rest } = cavage()
    expect(await reason(rest)).toBe('bad-digest')
    expect(await reason(cavage(), { rawBody: Buffer.from('{"type":"follow"}') })).toBe('bad-digest')
    expect(await reason(cavage({ headers: { digest: 'SHA-256=' } }))).toBe('bad-digest')
    const sha1 = createHash('sha1').update(BODY).digest('base64')
    expect(await reason(cavage({ headers: { digest: `SHA=${sha1}` } }))).toBe('bad-digest')
    expect(await reason(cavage({ headers: { digest: `SHA-256=${sha256(BODY)},SHA-512=AAAA` } }))).toBe('bad-digest')
    expect(await reason(cavage({ headers: { digest: `sha-256=${sha256(BODY)}` } }))).toBe('accepted')
  })

  it('a fetch needs no digest, but a POST without a body does', async () => {
    const names = ['(request-target)', 'host', 'date']
    const rawBody = Buffer.alloc(0)
    const target = 'get /accounts/alice'
    const url = 'https://video.example/accounts/alice'
    expect(await reason(cavage({ names, target }), { method: 'GET', url, rawBody })).toBe('accepted')
    expect(await reason(cavage({ names }), { rawBody })).toBe('uncovered')
  })

  it('a signature for another server is refused', async () => {
    expect(await reason(cavage({ headers: { host: 'other.example' } }))).toBe('wrong-host')
    expect(await reason(cavage({ headers: { host: 'video.example:443' } }))).toBe('accepted')
  })

  it.each(['rsa-sha512', 'rsa-sha1', 'hmac-sha256', 'ecdsa-sha256', 'none', ''])('the algorithm "%s" is refused', async (algorithm) => {
    expect(await reason(cavage({ algorithm }))).toBe('unsupported-algorithm')
  })

  it('a signature with another hash than declared is refused', async () => {
    expect(await reason(cavage({ hash: 'sha512', algorithm: 'hs2019' }))).toBe('bad-signature')
  })

  it.each([
    'keyId',
    'keyId=""',
    'keyId="https://peer.example/a"',
    'keyId="https://peer.example/a",signature=""',
    'keyId="https://peer.example/a",keyId="https://peer.example/b",signature="AAAA"',
    'keyId="https://peer.example/a",headers="host host",signature="AAAA"',
    'keyId="https://peer.example/a" signature="AAAA"',
    `keyId="${'a'.repeat(9000)}"`,
    '"""',
  ])('a malformed header is refused (%#)', async (signature) => {
    expect(await reason({ ...cavage(), signature })).toBe('malformed')
  })

  it('a missing or empty signature is distinguished from a wrong one', async () => {
    const { signature: _signature, ...rest } = cavage()
    expect(await reason(rest)).toBe('unsigned')
    expect(await reason({ ...rest, signature: '' })).toBe('unsigned')
    expect(await reason({ ...rest, authorization: 'Bearer token' })).toBe('unsigned')
  })

  it.each(['ftp://peer.example/key', 'peer.example', 'javascript:1', 'https://user@peer.example/key', 'acct:alice'])(
    'the key id %s is refused without a lookup',
    async (keyId) => {
      const findKey: FindKey = async () => {
        throw new Error('looked up')
      }
      expect(await reason(cavage({ key: { ...alice, keyId } }), { findKey })).toBe('malformed')
    },
  )

  it('an unknown key is returned, for the caller to fetch', async () => {
    expect(await verdict(cavage(), { findKey: async () => null })).toEqual({
      ok: false,
      reason: 'unknown-key',
      unknownKey: alice.keyId,
    })
  })

  it('a wrong signature of a known key is returned with that key, which may be outdated', async () => {
    const newer = await rsaKey(alice.keyId)
    expect(await verdict(cavage({ key: newer }))).toMatchObject({
      ok: false,
      reason: 'bad-signature',
      keyId: alice.keyId,
      key: { fetchedAt: new Date(0) },
    })
  })

  it('small keys, other kinds of keys, private keys and huge texts are refused', async () => {
    const small = await rsaKey(alice.keyId, 1024)
    expect(await reason(cavage({ key: small }), { findKey: finding(small) })).toBe('weak-key')
    expect(await reason(cavage({ key: small }), { findKey: finding(small), minRsaBits: 1024 })).toBe('accepted')
    for (const pem of [
      alice.privatePem,
      'no key',
      '',
      `-----BEGIN PUBLIC KEY-----\n${'A'.repeat(1_000_000)}\n-----END PUBLIC KEY-----`,
      '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----',
      '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----',
    ])
      expect(await reason(cavage(), { findKey: async () => ({ pem, owner: alice.owner, fetchedAt: NOW }) })).toBe('weak-key')
  })
})

describe('a local signature', () => {
  const sign = (profile: SignatureProfile, change: { method?: string; url?: string; body?: Buffer } = {}) =>
    signOutgoing({
      method: 'POST',
      url: URL_OF_INBOX,
      body: BODY,
      headers: { 'content-type': 'application/activity+json' },
      key: alice,
      profile,
      now: new Date(),
      ...change,
    })

  it.each<SignatureProfile>(['cavage', 'rfc9421'])('is accepted by the server itself (%s)', async (profile) => {
    const now = new Date()
    expect(await reason(await sign(profile), { now })).toBe('accepted')
    const url = 'https://video.example/accounts/x/outbox?page=1'
    const get = await signOutgoing({ method: 'GET', url, key: alice, profile, now })
    expect(await reason(get, { method: 'GET', url, rawBody: Buffer.alloc(0), now })).toBe('accepted')
    expect(get.digest ?? get['content-digest']).toBeUndefined()
  })

  it.each<SignatureProfile>(['cavage', 'rfc9421'])('is accepted by Fedify (%s)', async (profile) => {
    const key = new CryptographicKey({
      id: new URL(alice.keyId),
      owner: new URL(alice.owner),
      publicKey: await importPem(alice.publicPem),
    })
    const request = new Request(URL_OF_INBOX, {
      method: 'POST',
      body: new Uint8Array(BODY),
      headers: await sign(profile),
    })
    const found = await verifyRequest(request, { keyCache: { get: async () => key, set: async () => {} } })
    expect(found?.ownerId?.href).toBe(alice.owner)
  })

  it('has the form of the reference: host, date, digest, rsa-sha256', async () => {
    const headers = await sign('cavage')
    expect(Object.keys(headers).sort()).toEqual(['content-type', 'date', 'digest', 'host', 'signature'])
    expect(headers).toMatchObject({ host: 'video.example', digest: `SHA-256=${sha256(BODY)}` })
    const [, keyId, names] = /keyId="([^"]+)",algorithm="rsa-sha256",headers="([^"]+)"/.exec(headers.signature ?? '') ?? []
    expect(keyId).toBe(alice.keyId)
    expect(names?.split(' ').sort()).toEqual(['(request-target)', 'date', 'digest', 'host'])
  })

  it('imports a private key once, and again after a change', async () => {
    const ring = makePrivateKeyRing()
    let requested = 0
    const pem = () => {
      requested++
      return alice.privatePem
    }
    const first = await ring.get({ keyId: alice.keyId, version: 1, pem })
    const again = await ring.get({ keyId: alice.keyId, version: 1, pem })
    expect(again.privateKey).toBe(first.privateKey)
    expect(requested).toBe(1)
    await ring.get({ keyId: alice.keyId, version: 2, pem })
    expect(requested).toBe(2)
    await expect(ring.get({ keyId: 'https://b.example/', version: 1, pem: 'broken' })).rejects.toThrow()
    await expect(ring.get({ keyId: 'https://b.example/', version: 1, pem: alice.privatePem })).resolves.toBeDefined()
  })
})

describe('RFC 9421', () => {
  const created = NOW.getTime() / 1000

  /** Signs the given components without the library. */
  function signed(
    change: {
      components?: string[]
      parameters?: string
      values?: Record<string, string>
      headers?: Record<string, string>
      label?: string
    } = {},
  ): Record<string, string> {
    const headers: Record<string, string> = {
      host: 'video.example',
      date: NOW.toUTCString(),
      'content-digest': `sha-256=:${sha256(BODY)}:`,
      ...change.headers,
    }
    const values: Record<string, string> = {
      '@method': 'POST',
      '@target-uri': URL_OF_INBOX,
      '@authority': 'video.example',
      '@path': '/inbox',
      '@query': '?',
      '@request-target': '/inbox',
      '@scheme': 'https',
      ...headers,
      ...change.values,
    }
    const components = change.components ?? ['@method', '@target-uri', 'content-digest']
    const parameters = change.parameters ?? `;created=${created};keyid="${alice.keyId}"`
    const input = `(${components.map((name) => `"${name}"`).join(' ')})${parameters}`
    const base = [...components.map((name) => `"${name}": ${values[name]}`), `"@signature-params": ${input}`].join('\n')
    const label = change.label ?? 'sig1'
    return {
      ...headers,
      'signature-input': `${label}=${input}`,
      signature: `${label}=:${createSign('sha256').update(base).sign(alice.privatePem, 'base64')}:`,
    }
  }

  it.each([
    [['@method', '@target-uri', 'content-digest']],
    [['@method', '@path', '@query', '@authority', 'content-digest']],
    [['@method', '@path', 'host', 'content-digest']],
    [['@method', '@request-target', '@authority', '@scheme', 'content-digest', 'date']],
  ])('%j is sufficient', async (components) => {
    expect(await reason(signed({ components }))).toBe('accepted')
  })

  it.each([
    [['@target-uri', 'content-digest']],
    [['@method', '@authority', 'content-digest']],
    [['@method', '@path', 'content-digest']],
    [['@method', '@target-uri']],
  ])('%j is not', async (components) => {
    expect(await reason(signed({ components }))).toBe('uncovered')
  })

  it('without created, the date must be signed', async () => {
    const parameters = `;keyid="${alice.keyId}"`
    expect(await reason(signed({ parameters }))).toBe('uncovered')
    const components = ['@method', '@target-uri', 'content-digest', 'date']
    expect(await reason(signed({ parameters, components }))).toBe('accepted')
  })

  it.each([
    [`;created=${created - 1860};keyid="KEY"`, 'bad-date'],
    [`;created=${created + 1860};keyid="KEY"`, 'bad-date'],
    [`;created=${created};expires=${created - 10};keyid="KEY"`, 'expired'],
    [`;created=${created};expires=${created + 10};keyid="KEY"`, 'accepted'],
    [`;created=${created};keyid="KEY";alg="rsa-v1_5-sha256"`, 'accepted'],
    [`;created=${created};keyid="KEY";alg="hmac-sha256"`, 'unsupported-algorithm'],
    [`;created=${created};keyid="KEY";alg="rsa-pss-sha512"`, 'unsupported-algorithm'],
    [`;created="now";keyid="KEY"`, 'uncovered'],
    [`;created=${created}`, 'malformed'],
  ])('%s is %s', async (parameters, expected) => {
    expect(await reason(signed({ parameters: parameters.replace('KEY', alice.keyId) }))).toBe(expected)
  })

  it('a modified body is refused', async () => {
    expect(await reason(signed(), { rawBody: Buffer.from('{}') })).toBe('bad-digest')
    expect(await reason(signed({ headers: { 'content-digest': 'md5=:AAAA:' } }))).toBe('bad-digest')
    expect(await reason(signed({ headers: { 'content-digest': 'garbage' } }))).toBe('bad-digest')
  })

  it('another target, method or host is refused', async () => {
    expect(await reason(signed(), { url: 'https://video.example/other' })).toBe('bad-signature')
    expect(await reason(signed(), { method: 'PUT' })).toBe('bad-signature')
    expect(await reason(signed(), { url: 'https://other.example/inbox' })).toBe('bad-signature')
  })

  it('of several signatures, one that covers too little does not support the others', async () => {
    const good = signed({ label: 'good' })
    const poor = signed({ label: 'poor', components: ['@method'] })
    const both = {
      ...good,
      'signature-input': `${poor['signature-input']}, ${good['signature-input']}`,
      signature: `${poor.signature}, ${good.signature}`,
    }
    expect(await reason(both)).toBe('accepted')
    expect(await reason(poor)).toBe('uncovered')
    // The input of one signature with the value of the other.
    expect(await reason({ ...both, signature: `good=${(poor.signature ?? '').slice('poor='.length)}` })).toBe('bad-signature')
  })

  it.each(['', 'sig1', 'sig1=()', 'sig1=("@method";req);keyid="x"', '(((', `sig1=${'a'.repeat(9000)}`])(
    'a malformed input is refused (%#)',
    async (input) => {
      expect(await reason({ ...signed(), 'signature-input': input })).toBe('malformed')
    },
  )
})
