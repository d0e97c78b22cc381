import { describe, expect, it } from '@jest/globals'
import { isSameOrigin, originOf, trustFetched, trustKey } from '../../../src/federation/security/index.ts'

const ALICE = 'https://peer.example/accounts/alice'
const BOB = 'https://peer.example/accounts/bob'

it('an origin is scheme, host and port of an http address', () => {
  expect(originOf('https://peer.example/a')).toBe('https://peer.example')
  expect(originOf('https://peer.example:443/a')).toBe('https://peer.example')
  expect(originOf('javascript:alert(1)')).toBeUndefined()
  expect(isSameOrigin('https://peer.example/a', 'https://PEER.example/b')).toBe(true)
  expect(isSameOrigin('https://peer.example/a', 'http://peer.example/a')).toBe(false)
  expect(isSameOrigin('https://peer.example/a', 'https://peer.example:444/a')).toBe(false)
  expect(isSameOrigin('https://peer.example/a', 'https://peer.example.evil.example/a')).toBe(false)
  expect(isSameOrigin('nonsense', 'nonsense')).toBe(false)
})

describe('a fetched document', () => {
  it.each([
    [ALICE, ALICE, 'trusted'],
    [`${ALICE}#main-key`, ALICE, 'trusted'],
    [ALICE, 'https://peer.example/@alice', 'refetch'],
    [ALICE, 'https://mallory.example/alice', 'refetch'],
    ['nonsense', ALICE, 'refused'],
  ])('%s from %s: %s', (id, fetchedFrom, expected) => {
    expect(trustFetched({ id, fetchedFrom })).toBe(expected)
  })
})

it('a key counts when actor and key name each other on one server', () => {
  const keyId = `${ALICE}#main-key`
  expect(trustKey({ keyId, owner: ALICE, actor: { id: ALICE, keyIds: [keyId] } })).toBe(true)
  expect(trustKey({ keyId, owner: ALICE, actor: { id: ALICE, keyIds: [] } })).toBe(false)
  expect(trustKey({ keyId, owner: BOB, actor: { id: ALICE, keyIds: [keyId] } })).toBe(false)
  const foreign = 'https://mallory.example/key'
  expect(trustKey({ keyId: foreign, owner: ALICE, actor: { id: ALICE, keyIds: [foreign] } })).toBe(false)
})
