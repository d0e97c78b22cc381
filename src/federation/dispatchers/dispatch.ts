// Responses that Fedify's dispatchers make.

import type { Federation } from '@fedify/fedify/federation'
import type { CachedAnswer } from '../cache.ts'
import { activity, missing } from './answers.ts'
import type { RequestData } from './deps.ts'

/** Lets Fedify's dispatcher for an address make the document. */
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
