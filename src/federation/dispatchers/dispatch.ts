// Answers that Fedify's dispatchers make.

import type { Federation } from '@fedify/fedify/federation'
import { DomainError } from '../../actors/runtime/index.ts'
import type { CachedAnswer } from '../cache.ts'
import type { Urls } from '../urls.ts'
import { parseHandle } from '../wire/index.ts'
import { activity, answer, JSON_TYPE, missing } from './answers.ts'
import type { RequestData } from './deps.ts'

/** Lets Fedify's dispatcher of an address make the document. */
export async function dispatch(
  federation: Federation<RequestData>,
  url: string,
  contextData: RequestData,
  options: { missing: string; headers?: Record<string, string> },
): Promise<CachedAnswer> {
  const request = new Request(url, { headers: { accept: 'application/activity+json' } })
  const response = await federation.fetch(request, { contextData, onNotFound: () => missing(options.missing) })
  if (response.status !== 200) throw new Error(`No document at ${url}: ${response.status}`)
  return activity(await response.text(), options.headers)
}

/** WebFinger by Fedify, of the actor with this name. */
export async function webFinger(
  federation: Federation<RequestData>,
  urls: Pick<Urls, 'origin' | 'host'>,
  name: string,
): Promise<CachedAnswer> {
  const url = new URL('/.well-known/webfinger', urls.origin)
  url.searchParams.set('resource', `acct:${name}@${urls.host}`)
  const response = await federation.fetch(new Request(url), {
    contextData: {},
    onNotFound: () => missing('Actor not found'),
  })
  if (response.status !== 200) return missing('Actor not found')
  return answer(await response.text(), JSON_TYPE)
}

/**
 * The name in a WebFinger resource, which is `acct:name@host` of this host. As the reference, we take neither bare
 * handles nor addresses: Mastodon asks for none, and Fedify goes on to ask for the handle.
 *
 * @throws {DomainError} `invalid` for every other resource
 */
export function namedResource(host: string, resource: string): string {
  const handle = /^acct:/i.test(resource) ? parseHandle(`acct:${resource.slice(5)}`) : undefined
  if (handle?.host === host.toLowerCase()) return handle.name
  throw new DomainError('invalid', 'Incorrect request parameters: resource', {
    invalidParams: [{ name: 'resource', location: 'query', msg: 'Invalid value', value: resource || undefined }],
  })
}
