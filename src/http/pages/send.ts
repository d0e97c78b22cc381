// Sends a page: its frame, its ETag, and its policy.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LookedAtActor } from '../../actors/actor/index.ts'
import type { Instance, InstanceFactsReader } from '../../actors/instance/index.ts'
import type { Registrations } from '../../actors/registration/index.ts'
import type { Sessions } from '../../actors/session/index.ts'
import type { Subscriptions } from '../../actors/subscription/index.ts'
import type { UpdateMe } from '../../actors/user/index.ts'
import type { FileTokens } from '../../actors/video/index.ts'
import type { Config } from '../../config/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { type Language, t } from '../../platform/language.ts'
import { conditionalTagged, etagOf } from '../plugins/conditional.ts'
import type { App } from '../plugins/types.ts'
import type { Here } from '../videos/actor.view.ts'
import type { VideoResponseCache } from '../videos/response-cache.ts'
import type { Watch } from '../views/watch.ts'
import type { Assets } from './assets.ts'
import { messageOf, missingBody } from './bodies/notices.ts'
import { headTagsOf, plainHead, type Site, type Subject, siteOf } from './heads/index.ts'
import { chooseLanguage } from './languages.ts'
import { contentSecurityPolicy, headed, layout, type Page } from './layout.ts'
import type { Visitors } from './visitor.ts'

export interface PagesDeps {
  db: Database
  config: () => Config
  urls: Here
  visitors: Visitors
  facts: Pick<InstanceFactsReader, 'recent'>
  lookedAtActor: LookedAtActor
  sessions: Pick<Sessions, 'login' | 'loginByToken' | 'end' | 'logout'>
  instance: Pick<Instance, 'localClient'>
  clock: Clock
  registrations: Pick<Registrations, 'assertOpen'>
  subscriptions: Pick<Subscriptions, 'recount'>
  updateMe: UpdateMe
  watch: Watch
  /** Resolves a text, with the row id; `fetch`: other servers may be asked. */
  resolvePasted: { anything(text: string, options: { fetch: boolean }): Promise<PastedThing | undefined> }
  /** Where a visitor with a remote handle subscribes to the actor with this address. Throws DomainError. */
  subscribeAddress(handle: string, uri: string): Promise<string>
  fileTokens: Pick<FileTokens, 'issue'>
  /** Cache of the pages that all visitors share; without it each is built again. */
  answers?: Pick<VideoResponseCache, 'ofPages' | 'ofParts' | 'isAbout'>
}

export interface PastedThing {
  kind: 'video' | 'channel' | 'playlist' | 'account'
  id: number
}

export interface Answer extends Page {
  status?: number
  /** Origins of the page's media on other servers. */
  origins?: readonly string[]
  /** For the requester only: not cached, and not indexed. */
  isPrivate?: boolean
  /** Its address is a secret: no other site gets it as referrer. */
  isSecret?: boolean
  /** A frame with a form in it; pages have one. */
  forms?: boolean
}

export type PageTools = ReturnType<typeof makePageTools>

/** Options of a page's route that has no parameters. */
export const pageOptions = { schema: { hide: true }, config: { limits: ['client'] }, onSend: conditionalTagged } as const

/** Headers that `send` sets for every page, in addition to type and ETag. */
const HEADERS = ['cache-control', 'content-language', 'vary', 'content-security-policy', 'referrer-policy']

export function makePageTools(app: App, deps: PagesDeps, assets: Assets) {
  const site = (): Site => siteOf(deps.config())

  /** The language of the page; frames of other sites get no cookie. */
  const languageOf = (request: FastifyRequest, embed = false): Language =>
    chooseLanguage({
      chosen: embed ? undefined : deps.visitors.chosen(request, 'language'),
      accepted: request.headers['accept-language'],
    })

  const themeOf = (request: FastifyRequest, embed = false): Page['theme'] => {
    const chosen = embed ? undefined : deps.visitors.chosen(request, 'theme')
    return chosen === 'light' || chosen === 'dark' ? chosen : 'light dark'
  }

  const send = (request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply => {
    const { status = 200, origins = [], isPrivate = false, isSecret = false, forms, ...page } = answer
    const framed = page.embed === true
    const signedIn = !framed && deps.visitors.tokenOf(request) !== undefined
    const message = framed ? undefined : messageOf(deps.config().broadcast_message, deps.urls)
    const language = languageOf(request, framed)
    const body = layout({ ...page, signedIn, message, theme: themeOf(request, framed) }, site(), assets, language)
    reply.code(status).headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': isPrivate ? 'no-store' : `${signedIn ? 'private, ' : ''}max-age=0, no-cache, must-revalidate`,
      ...(isPrivate ? { 'x-robots-tag': 'noindex' } : {}),
      'content-language': language.tag,
      vary: `Accept, Accept-Language${framed ? '' : ', Cookie'}`,
      ...(isPrivate ? {} : { etag: etagOf(body) }),
      'content-security-policy': contentSecurityPolicy({ origins, framed, forms: forms ?? !framed }),
      'referrer-policy': isSecret ? 'same-origin' : 'strict-origin-when-cross-origin',
    })
    return reply.send(body)
  }

  /** The head of a page about something public, for machines as well. */
  const headOf = (subject: Subject) => headed(headTagsOf(subject, { site: site(), here: deps.urls }))
  /** The head of a page that is not for everybody, by default without the name of its subject. */
  const hiddenHead = (name?: string) => headed(plainHead(site(), name, { isIndexed: false }))

  const sendMissing = (request: FastifyRequest, reply: FastifyReply, embed = false): FastifyReply =>
    send(request, reply, {
      status: 404,
      ...hiddenHead(),
      title: t('Not found'),
      body: missingBody({ embed }),
      embed,
    })

  /** The hooks of a page that all visitors share, keyed by its path and the named query parameters. */
  const keep = (names: readonly string[], { embed = false }: { embed?: boolean } = {}) => {
    // Frames of other sites are anonymous.
    const isForAll = (request: FastifyRequest) => embed || deps.visitors.tokenOf(request) === undefined
    const variantOf = (request: FastifyRequest) => `${languageOf(request, embed).tag} ${themeOf(request, embed)}`
    const kept = deps.answers?.ofPages(names, { headers: HEADERS, isForAll, variantOf })
    return kept ? { onRequest: kept.onRequest, onSend: [kept.onSend, conditionalTagged] } : { onSend: [conditionalTagged] }
  }

  return { ...deps, app, site, languageOf, send, sendMissing, headOf, hiddenHead, keep }
}
