// From a host or a handle to an actor: NodeInfo with its link to the instance actor (FEP-2677), and WebFinger (RFC 7033).

import { noteSoftware } from '../../actors/remote-host/index.ts'
import { DomainError } from '../../actors/runtime/index.ts'
import type { FederationDeps } from '../deps.ts'
import { isSameOrigin } from '../security/index.ts'
import {
  FETCHED_BOUNDS,
  parseDocument,
  parseHandle,
  readNodeInfo,
  readNodeInfoLinks,
  readWebFinger,
  type WebFingerDocument,
} from '../wire/index.ts'
import { refusedFetch, refuseStatus } from './documents.ts'

export type Discovery = ReturnType<typeof makeDiscovery>

export function makeDiscovery(deps: FederationDeps) {
  const { http, config, db, logger } = deps

  /** https first; plain http if the configuration allows it. */
  async function getJson(host: string, path: string): Promise<{ document: unknown; url: string }> {
    const schemes = config().vireo.federation.allow_http ? ['https', 'http'] : ['https']
    let refusal: unknown
    for (const scheme of schemes) {
      try {
        return await getJsonAt(`${scheme}://${host}${path}`)
      } catch (error) {
        refusal ??= error
        if (error instanceof DomainError && error.kind === 'not_found') throw error
        if (scheme === schemes.at(-1)) throw schemes.length === 1 ? refusal : error
      }
    }
    throw refusal
  }

  async function getJsonAt(url: string): Promise<{ document: unknown; url: string }> {
    const { timeout, max_document_size } = config().vireo.federation.fetch
    let answer: Awaited<ReturnType<typeof http.fetch>>
    try {
      answer = await http.fetch(url, {
        headers: { accept: 'application/jrd+json, application/json' },
        maxBytes: max_document_size,
        timeoutMs: timeout,
      })
    } catch (error) {
      throw refusedFetch(url, error)
    }
    refuseStatus(url, answer.status)
    const read = parseDocument(answer.body, FETCHED_BOUNDS)
    if (!read.ok) throw new DomainError('unprocessable', `${url} cannot be read: ${read.problem}`)
    return { document: read.value, url: answer.url }
  }

  async function readSoftware(host: string, nodeInfoUrl: string): Promise<void> {
    try {
      const read = readNodeInfo((await getJsonAt(nodeInfoUrl)).document)
      if (!read.ok) return
      await noteSoftware(db.query, host, read.value)
    } catch (error) {
      logger.debug({ err: error, host }, 'the software of a host is not known')
    }
  }

  return {
    /** The id of a host's instance actor. Stores the software that it runs. */
    async instanceActorOf(host: string) {
      const { document, url } = await getJson(host, '/.well-known/nodeinfo')
      const read = readNodeInfoLinks(document)
      if (!read.ok || read.value.instanceActor === null) {
        throw new DomainError('unprocessable', `${host} names no instance actor.`)
      }
      if (!isSameOrigin(read.value.instanceActor, url)) {
        throw new DomainError('forbidden', `${host} names an instance actor of another server.`)
      }
      const { nodeInfo, instanceActor } = read.value
      if (nodeInfo !== null && isSameOrigin(nodeInfo, url)) await readSoftware(host, nodeInfo)
      return instanceActor
    },

    /** Asks a host for its software, and stores it. Throws DomainError. */
    async noteSoftwareOf(host: string) {
      const { document, url } = await getJson(host, '/.well-known/nodeinfo')
      const read = readNodeInfoLinks(document)
      if (read.ok && read.value.nodeInfo !== null && isSameOrigin(read.value.nodeInfo, url)) {
        await readSoftware(host, read.value.nodeInfo)
      }
    },

    /** The id of the actor with this handle, `name@host`. */
    async actorOf(handle: string) {
      return (await webFingerOf(handle)).actor
    },
    webFingerOf,
  }

  /** The WebFinger document of a handle, and its address. Throws DomainError. */
  async function webFingerOf(handle: string): Promise<WebFingerDocument & { readAt: string }> {
    const parsed = parseHandle(handle)
    if (!parsed) throw new DomainError('invalid', `${handle} is no handle.`)
    const resource = encodeURIComponent(`acct:${parsed.name}@${parsed.host}`)
    const { document, url: readAt } = await getJson(parsed.host, `/.well-known/webfinger?resource=${resource}`)
    const read = readWebFinger(document)
    if (!read.ok) throw new DomainError('unprocessable', `${handle} leads to no actor: ${read.problem}`)
    return { ...read.value, readAt }
  }
}
