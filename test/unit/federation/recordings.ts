// Documents and deliveries recorded from PeerTube 6.3.0, with their placeholders filled in.

import { readdirSync, readFileSync } from 'node:fs'
import type { JsonObject } from '../../../src/federation/wire/index.ts'

export const RECORDINGS = new URL('../../fixtures/activitypub/', import.meta.url)

/** The URL of the recorded instance. */
export const PEER = 'https://peer.example'

export const PUBLIC_PEM = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
-----END PUBLIC KEY-----`

const FIXED: Record<string, string> = {
  base: PEER,
  host: 'peer.example',
  baseEncoded: encodeURIComponent(PEER),
  hostEncoded: 'peer.example',
  remote: 'https://remote.example',
  remoteHost: 'remote.example',
  recorder: 'https://recorder.example',
  recorderHost: 'recorder.example',
  date: '2026-11-20T19:02:17.158Z',
  pem: PUBLIC_PEM.replaceAll('\n', '\\n'),
  sha1: 'a9993e364706816aba3e25717850c26c9cd0d89d',
  sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  signature: 'c2lnbmF0dXJl',
}

function filled(text: string): unknown {
  return JSON.parse(
    text.replace(/\{\{([a-zA-Z0-9]+)(?::(\d+))?\}\}/g, (_whole, name: string, number?: string) =>
      name === 'uuid' ? `00000000-0000-4000-8000-${(number ?? '0').padStart(12, '0')}` : (FIXED[name] ?? `${name}${number ?? ''}`),
    ),
  )
}

/** The body of a recorded response to a GET. */
export function recordedObject(name: string): JsonObject {
  const { response } = filled(readFileSync(new URL(`objects/${name}.json`, RECORDINGS), 'utf8')) as {
    response: { body: JsonObject }
  }
  return response.body
}

/** A whole recorded file. */
export const recordedFile = (name: string): JsonObject => filled(readFileSync(new URL(`${name}.json`, RECORDINGS), 'utf8')) as JsonObject

/** The bodies of the recorded deliveries of one trigger, without their document signatures. */
export function recordedActivities(name: string): JsonObject[] {
  const { deliveries } = filled(readFileSync(new URL(`activities/${name}.json`, RECORDINGS), 'utf8')) as {
    deliveries: { body: JsonObject }[]
  }
  return deliveries.map(({ body: { signature: _signature, ...body } }) => body)
}

/** Every recorded delivery. */
export const allRecordedActivities = (): JsonObject[] =>
  readdirSync(new URL('activities/', RECORDINGS))
    .filter((name) => /^\d/.test(name))
    .flatMap((name) => recordedActivities(name.replace('.json', '')))

export interface RawVector {
  method: string
  path: string
  headers: Record<string, string>
  rawBody: string
  publicKeyPem: string
}

/** Unmodified deliveries with the keys that signed them. */
export function rawVectors(): { fromPeer: RawVector[]; signedFetches: RawVector[]; accepted: RawVector } {
  const raw = JSON.parse(readFileSync(new URL('activities/raw-vectors.json', RECORDINGS), 'utf8')) as {
    fromPeer: RawVector[]
    signedFetchesOfThePeer: RawVector[]
    fetchKey: string
    acceptedByPeer: RawVector
  }
  return {
    fromPeer: raw.fromPeer,
    signedFetches: raw.signedFetchesOfThePeer.map((one) => ({ ...one, rawBody: '', publicKeyPem: raw.fetchKey })),
    accepted: {
      ...raw.acceptedByPeer,
      method: 'POST',
      headers: Object.fromEntries(Object.entries(raw.acceptedByPeer.headers).map(([name, value]) => [name, String(value)])),
    },
  }
}
