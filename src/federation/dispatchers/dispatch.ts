// Answers that Fedify's dispatchers make.

import type { Federation } from '@fedify/fedify/federation'
import { DomainError } from '../../actors/runtime/index.ts'
import type { CachedAnswer } from '../cache.ts'
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

/** WebFinger by Fedify. Bare handles and `@name@host` are understood too. */
export async function webFinger(
  federation: Federation<RequestData>,
  origin: string,
  resource: string,
): Promise<CachedAnswer> {
  const named = resource.replace(/^(?:acct:)?@?(?=[^@/:]+@[^@/]+$)/, 'acct:')
  if (!URL.canParse(named)) {
    throw new DomainError('invalid', 'Incorrect request parameters: resource', {
      invalidParams: [{ name: 'resource', location: 'query', msg: 'Invalid value', value: resource || undefined }],
    })
  }
  const url = new URL('/.well-known/webfinger', origin)
  url.searchParams.set('resource', named)
  const response = await federation.fetch(new Request(url), {
    contextData: {},
    onNotFound: () => missing('Actor not found'),
  })
  if (response.status !== 200) return missing('Actor not found')
  return answer(await response.text(), JSON_TYPE)
}
