// WebFinger (RFC 7033): from `acct:name@host` to the actor.

import { z } from 'zod'
import { asciiHost } from '../../platform/host.ts'
import type { JsonObject } from './context.ts'
import { isHttpUrl, listOf, optional, type Read, readWith } from './read.ts'

export interface WebFingerDocument {
  /** `acct:name@host` */
  subject: string
  actor: string
  /** The page on a visitor's own server for following or commenting; `{uri}` stands for the object. */
  subscribeTemplate: string | null
}

const SUBSCRIBE = 'http://ostatus.org/schema/1.0/subscribe'
const ACTIVITY_TYPE = /^application\/(activity\+json|ld\+json)\b/i

const link = z.object({
  rel: z.string().max(200),
  type: optional(z.string().max(200)),
  href: optional(z.string().max(2000)),
  template: optional(z.string().max(2000)),
})

const schema = z
  .object({ subject: z.string().min(1).max(1000), links: listOf(link, 100) })
  .transform((found, problems): WebFingerDocument => {
    const self = found.links.find(({ rel, type, href }) => rel === 'self' && ACTIVITY_TYPE.test(type ?? '') && isHttpUrl(href))
    if (!self?.href) {
      problems.addIssue('no link to an actor')
      return z.NEVER
    }
    const subscribe = found.links.find(({ rel }) => rel === SUBSCRIBE)?.template ?? null
    return { subject: found.subject, actor: self.href, subscribeTemplate: isHttpUrl(subscribe) ? subscribe : null }
  })

export const readWebFinger = (document: unknown): Read<WebFingerDocument> => readWith(schema, document)

export interface WebFingerInput {
  name: string
  host: string
  actor: string
  subscribeTemplate: string
}

export function buildWebFinger(input: WebFingerInput): JsonObject {
  return {
    subject: `acct:${input.name}@${input.host}`,
    aliases: [input.actor],
    links: [
      { rel: 'self', type: 'application/activity+json', href: input.actor },
      { rel: SUBSCRIBE, template: input.subscribeTemplate },
    ],
  }
}

/** `name@host` of a WebFinger resource (`acct:` or a bare handle, with or without a leading `@`); the host in Punycode. */
export function parseHandle(resource: string): { name: string; host: string } | undefined {
  const [, name, host] = /^(?:acct:)?@?([a-zA-Z0-9\-_.:]{1,200})@([^\s@/?#]{1,260})$/.exec(resource) ?? []
  return name && host ? { name, host: asciiHost(host) } : undefined
}
