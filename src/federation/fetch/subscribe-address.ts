// The page where a visitor subscribes from their own server: the WebFinger template of their handle, filled in.

import pLimit from 'p-limit'
import { DomainError } from '../../actors/runtime/index.ts'
import { withTimeout } from '../../platform/timeout.ts'
import type { FederationDeps } from '../deps.ts'
import type { Discovery } from './discovery.ts'

/**
 * The page of the visitor's own server for `uri`. Throws DomainError: `invalid` for an invalid handle, others if that server cannot be
 * asked or offers no trustworthy page.
 */
export type SubscribeAddress = (handle: string, uri: string) => Promise<string>

/** Concurrent look-ups in one process: anybody may request them. */
const AT_ONCE = 10
const PLACE = '{uri}'

export function makeSubscribeAddress(
  deps: Pick<FederationDeps, 'config'> & { discovery: Pick<Discovery, 'webFingerOf'> },
): SubscribeAddress {
  const { config, discovery } = deps
  const limited = pLimit(AT_ONCE)
  return async (handle, uri) => {
    const asked = limited(() => discovery.webFingerOf(handle))
    // Nobody waits for the failure of an abandoned look-up.
    asked.catch(() => {})
    const found = await withTimeout(asked, config().vireo.federation.fetch.search_timeout)
    if (!found) throw new DomainError('unavailable', 'That server took too long to respond.')
    const { subscribeTemplate, actor, readAt } = found
    if (subscribeTemplate === null) throw new DomainError('unprocessable', 'That server has no page to subscribe on.')
    const host = handle.slice(handle.lastIndexOf('@') + 1).toLowerCase()
    // A server that delegates its handles hosts the actor there, or redirects WebFinger to it.
    const hosts = new Set([host, URL.parse(actor)?.host, URL.parse(readAt)?.host])
    const address = fill(subscribeTemplate, uri, config().vireo.federation.allow_http)
    if (!address || !hosts.has(address.host)) {
      throw new DomainError('unprocessable', 'That server names a page that cannot be trusted.')
    }
    return address.href
  }
}

/** Undefined for a template that is not a web address, or has no placeholder. */
function fill(template: string, uri: string, allowHttp: boolean): URL | undefined {
  if (!template.includes(PLACE)) return undefined
  // The placeholder must be in the path or the query, never in the host.
  const empty = URL.parse(template.replaceAll(PLACE, ''))
  const url = URL.parse(template.replaceAll(PLACE, encodeURIComponent(uri)))
  if (!empty || !url || url.origin !== empty.origin || url.username !== '' || url.password !== '') return undefined
  return url.protocol === 'https:' || (allowHttp && url.protocol === 'http:') ? url : undefined
}
