// The own public address, tested like other servers use it: the name, the certificate, nodeinfo, WebFinger, the actor by a signed request.

import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { z } from 'zod'
import { importPrivateKey, signOutgoing } from '../../federation/security/index.ts'
import { makeUrls } from '../../federation/urls.ts'
import { makeSecrets } from '../../platform/secrets.ts'
import { type Check, DATABASE_LIMIT, type Patient, type Say, sentence, USUAL_LIMIT } from './check.ts'
import { secretOf } from './database.ts'

const DAY_MS = 86_400_000
/** Days that a certificate should remain valid: renewals happen long before. */
const SOON = 14
const MAX_BYTES = 1_000_000
const NO_ANSWER = 'See whether the server runs, and whether the proxy in front of it hands requests to it.'

export const nameCheck: Check = {
  name: 'dns',
  limit: USUAL_LIMIT,
  async run({ loaded }, say) {
    const host = new URL(loaded.publicUrl).hostname.replace(/^\[|\]$/g, '')
    if (isIP(host)) {
      return say.ok(`${host} is an address itself.`)
    }
    try {
      const addresses = await lookup(host, { all: true })
      say.ok(`${host} leads to ${addresses.map(({ address }) => address).join(', ')}.`)
    } catch (error) {
      say.problem(`${host} has no address: ${sentence(error)}`, 'Make an A and an AAAA record for it, or set webserver.hostname right.')
    }
    if (host === 'localhost') {
      say.warning(
        'The public address is localhost, which no other server can reach.',
        'Set webserver.hostname before the first video: addresses are for ever.',
      )
    }
  },
}

export const certificateCheck: Check = {
  name: 'certificate',
  limit: USUAL_LIMIT,
  async run({ loaded }, say, signal) {
    const url = new URL(loaded.publicUrl)
    if (url.protocol !== 'https:') {
      return say.warning('The public address is plain http.', 'Set webserver.https, with a proxy that has a certificate.')
    }
    const { validTo, refusal } = await certificateOf(url, signal)
    if (refusal !== undefined) {
      return say.problem(`Others do not trust the certificate: ${refusal}.`, 'Get one for this name, with its whole chain.')
    }
    sayValidity(say, validTo, (day) => `The certificate is valid until ${day}.`)
  },
}

export function sayValidity(say: Say, validTo: Date, textOf: (day: string) => string): void {
  const days = Math.floor((validTo.getTime() - Date.now()) / DAY_MS)
  const text = textOf(validTo.toISOString().slice(0, 10))
  if (days < SOON) say.warning(text, 'Renew it, and see why that did not happen by itself.')
  else say.ok(text)
}

function certificateOf(url: URL, signal: AbortSignal): Promise<{ validTo: Date; refusal?: string }> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(url.port || 443),
      rejectUnauthorized: false,
      ...(isIP(host) ? {} : { servername: host }),
    })
    signal.addEventListener('abort', () => socket.destroy())
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      const validTo = new Date(socket.getPeerCertificate().valid_to)
      const refusal = socket.authorized ? {} : { refusal: String(socket.authorizationError) }
      socket.destroy()
      resolve({ validTo, ...refusal })
    })
  })
}

export const federationCheck: Check = {
  name: 'federation',
  limit: DATABASE_LIMIT,
  async run(patient, say, signal) {
    const { publicUrl } = patient.loaded
    const urls = makeUrls(publicUrl)
    const ask = (path: string, accept: string) => read(new URL(path, publicUrl), { accept }, signal)
    try {
      const links = nodeInfoLinks.parse(await ask('/.well-known/nodeinfo', 'application/json')).links
      const link = links.find(({ href }) => urls.isLocal(href))
      if (!link) {
        const advice = 'Set `webserver` to the public address, and hand /.well-known on to this server.'
        say.problem(`nodeinfo is not at ${publicUrl}.`, advice)
      } else {
        const { software } = nodeInfo.parse(await read(new URL(link.href), { accept: 'application/json' }, signal))
        if (software.name === 'vireo') say.ok(`nodeinfo answers: Vireo ${software.version}.`)
        else say.problem(`${publicUrl} is served by ${software.name}.`, 'Forward its requests to this server.')
      }
      for (const name of ['root', 'peertube']) {
        const path = `/.well-known/webfinger?resource=acct:${name}@${urls.host}`
        const found = webFinger.parse(await ask(path, 'application/jrd+json')).links
        const self = found.find(({ rel }) => rel === 'self')?.href
        // An operator may have removed root.
        if (self === urls.account(name)) say.ok(`WebFinger finds ${name}@${urls.host}.`)
        else say.problem(`WebFinger names ${self ?? 'nobody'} for ${name}@${urls.host}.`, NO_ANSWER)
      }
      await lookAtActor(patient, say, signal)
    } catch (error) {
      say.problem(`${publicUrl} does not answer as other servers expect: ${reasonOf(error)}`, NO_ANSWER)
    }
  },
}

async function lookAtActor(patient: Patient, say: Say, signal: AbortSignal): Promise<void> {
  const url = makeUrls(patient.loaded.publicUrl).instance
  const accept = 'application/activity+json'
  const headers = await signed(url, patient, { accept }).catch((error: unknown) => {
    say.warning(
      `The actor is requested without a signature, because the key is unavailable: ${sentence(error)}`,
      'See what is said of the database and of the secret.',
    )
    return { accept }
  })
  const actor = actorDocument.parse(await read(new URL(url), headers, signal))
  if (actor.id !== url) {
    const advice = 'Set `webserver` right; if the address has changed for good, run `vireo update-host`.'
    say.problem(`The actor at ${url} has the id ${actor.id}.`, advice)
  } else say.ok('The actor of this server answers a signed request.')
}

async function signed(url: string, patient: Patient, headers: Record<string, string>): Promise<Record<string, string>> {
  const database = await patient.database()
  const [actor] = await database.query<{ keyId: string; sealed: string }>(
    `select key_id as "keyId", private_key_sealed as sealed from actor
     where host_id is null and type = 'Application' and private_key_sealed is not null order by id limit 1`,
  )
  if (!actor) throw new Error('the server was never started.')
  const pem = makeSecrets({ secret: await secretOf(patient.loaded) }).open(actor.sealed)
  const key = { keyId: actor.keyId, privateKey: await importPrivateKey(pem) }
  return await signOutgoing({ method: 'GET', url, headers, key, profile: 'cavage', now: new Date() })
}

/** Redirects are reported, not followed: others would fail. */
async function read(url: URL, headers: Record<string, string>, signal: AbortSignal): Promise<unknown> {
  const answer = await fetch(url, { headers, signal, redirect: 'manual' })
  const text = await answer.text()
  if (answer.status !== 200 || text.length > MAX_BYTES) throw new Error(`${url.pathname} is answered with ${answer.status}.`)
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${url.pathname} is answered with something that is no JSON.`)
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return 'a document has not the fields that it should have.'
  return sentence(error instanceof TypeError && error.cause ? error.cause : error)
}

const nodeInfoLinks = z.object({ links: z.array(z.object({ href: z.url() })) })
const nodeInfo = z.object({ software: z.object({ name: z.string(), version: z.string() }) })
const webFinger = z.object({ links: z.array(z.object({ rel: z.string(), href: z.string().optional() })) })
const actorDocument = z.object({ id: z.string() })
