// Pages of channels and accounts, local and known remote ones: their content, and how to subscribe. Unknown actors are not fetched.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { findAccount } from '../../actors/account/index.ts'
import type { ActorProfile } from '../../actors/actor/index.ts'
import { type ChannelRow, findChannel, findChannelByHandle, listChannels } from '../../actors/channel/index.ts'
import { listPlaylists, playlistTypes } from '../../actors/playlist/index.ts'
import type { Visit } from '../../actors/session/index.ts'
import type { VideoListScope } from '../../actors/video/index.ts'
import { type Html, html, rich, webUrl } from '../../platform/html.ts'
import { type Localized, t } from '../../platform/language.ts'
import { toActorHandle } from '../plugins/handles.ts'
import type { Here } from '../videos/actor.view.ts'
import { seesStrangers } from '../videos/follow-constraints.ts'
import { accountPath, handleOf, inPath } from './addresses.ts'
import { channelCards, fullHandle, pageOr, playlistCards, type Tab, tabs, videosOr } from './bodies/listing.ts'
import { avatarOf, bannerOf } from './bodies/picture.ts'
import { richText } from './bodies/rich-text.ts'
import { subscribeButton, visitorSubscribe } from './bodies/subscribe.ts'
import { counted, day } from './bodies/text.ts'
import { pageNumber, pageOfForm, queryOf } from './fields.ts'
import { type PageTools, pageOptions } from './send.ts'
import { videoPage } from './watched.ts'

const CHANNEL_TABS = { videos: t('Videos'), 'video-playlists': t('Playlists'), about: t('About') } as const
const ACCOUNT_TABS = { 'video-channels': t('Channels'), ...CHANNEL_TABS } as const

type TabName = keyof typeof ACCOUNT_TABS

const options = { ...pageOptions, schema: { params: z.object({ name: z.string() }), hide: true } } as const

export function addActorPages(tools: PageTools): void {
  const { app, visitors, sendMissing, keep } = tools
  const kept = { ...options, ...keep(['page']) }
  const pages = makeActorPages(tools)

  for (const [base, show, names] of [
    ['/c/:name', pages.channel, Object.keys(CHANNEL_TABS)],
    ['/video-channels/:name', pages.channel, Object.keys(CHANNEL_TABS)],
    ['/a/:name', pages.account, Object.keys(ACCOUNT_TABS)],
    ['/accounts/:name', pages.account, Object.keys(ACCOUNT_TABS)],
    ['/@:name', pages.either, Object.keys(ACCOUNT_TABS)],
  ] as const) {
    for (const tab of [undefined, ...names]) {
      // Changes of playlists do not invalidate cached pages.
      const tabOptions = tab === 'video-playlists' ? options : kept
      app.get(tab === undefined ? base : `${base}/${tab}`, tabOptions, async (request, reply) => {
        const visit = await visitors.of(request)
        await show(request.params.name, { request, reply, visit, tab: tab as TabName | undefined })
        return reply.sent ? reply : sendMissing(request, reply)
      })
    }
    app.get(`${base}/*`, options, async (request, reply) => sendMissing(request, reply))
  }
}

interface Asked {
  request: FastifyRequest
  reply: FastifyReply
  visit: Visit | null
  /** By default the first one. */
  tab: TabName | undefined
}

type Listed = Pick<Asked, 'request' | 'visit'> & { actor: ActorProfile; path: string }
type Owner = { channelId: number } | { accountId: number }

/** Each sends the page, or nothing if no such actor exists. */
function makeActorPages(tools: PageTools) {
  const { db, urls, visitors, lookedAtActor, send, headOf } = tools

  async function channel(name: string, { request, reply, visit, tab = 'videos' }: Asked) {
    const found = await findChannel(db, toActorHandle(name, urls.host), { followedBy: visit?.user.actorId })
    if (!found || !(tab in CHANNEL_TABS)) return undefined
    lookedAtActor(found.seen)
    const { channel: actor, account: owner } = found
    const base = `/c/${inPath(actor)}`
    const path = `${base}/${tab}`
    const content = await contentOf({ request, visit, tab, path, actor, of: { channelId: actor.id } })
    const action = visit
      ? buttonOf(found, pageOfForm(request), visitors.formToken(request, reply))
      : visitorSubscribe({ kind: 'channel', actor: handleOf(actor) }, path)
    const body = actorBody({ actor, owner, visit, tabs: tabsOf(base, CHANNEL_TABS, tab), action, content }, urls)
    return send(request, reply, { ...headOf({ kind: 'channel', actor }), body })
  }

  async function account(name: string, { request, reply, visit, tab = 'video-channels' }: Asked) {
    const actor = await findAccount(db, toActorHandle(name, urls.host))
    if (!actor) return undefined
    lookedAtActor(actor.seen)
    const base = `/a/${inPath(actor)}`
    const path = `${base}/${tab}`
    const content =
      tab === 'video-channels'
        ? await channelsOf({ request, reply, visit, actor, path })
        : await contentOf({ request, visit, tab, path, actor, of: { accountId: actor.id } })
    const action = visit ? null : visitorSubscribe({ kind: 'account', actor: handleOf(actor) }, path)
    const body = actorBody({ actor, visit, tabs: tabsOf(base, ACCOUNT_TABS, tab), action, content }, urls)
    return send(request, reply, { ...headOf({ kind: 'account', actor }), body })
  }

  const buttonOf = ({ channel, followed }: ChannelRow, next: string, token: string): Html =>
    subscribeButton({ channel, here: urls, isSubscribed: followed === true, next, token })

  async function channelsOf({ request, reply, visit, actor, path }: Listed & Pick<Asked, 'reply'>) {
    const wanted = { accountId: actor.id, sort: { by: 'updatedAt', descending: true }, followedBy: visit?.user.actorId } as const
    const token = visit && visitors.formToken(request, reply)
    const button = (row: ChannelRow) => (token === null ? null : buttonOf(row, pageOfForm(request), token))
    return await pageOr(
      { nothing: t('There are no channels.'), path, page: pageNumber(queryOf(request)) },
      (range) => listChannels(db, { ...wanted, ...range }),
      (rows) => channelCards(rows, urls, button),
    )
  }

  async function contentOf({ request, visit, tab, path, actor, of }: Listed & { tab: TabName; of: Owner }): Promise<Html> {
    if (tab === 'about') return aboutActor(actor, urls)
    const page = pageNumber(queryOf(request))
    if (tab === 'videos') {
      const scope: VideoListScope = 'channelId' in of ? { of: 'channel', ...of } : { of: 'account', ...of }
      const videos = await videoPage(tools, visit, { scope, page, strangers: seesStrangers(tools, visit !== null) })
      return videosOr(noVideos(actor, of), path, videos)
    }
    const wanted = { of, everyPrivacy: false, type: playlistTypes.regular, mutedFor: visit?.user.accountId ?? null } as const
    return await pageOr(
      { nothing: t('There are no playlists.'), path, page },
      (range) => listPlaylists(db, { ...wanted, ...range, sort: { by: 'updatedAt', descending: true } }),
      playlistCards,
    )
  }

  return {
    channel,
    account,
    /** A name may be that of an account or a channel. */
    async either(name: string, asked: Asked) {
      const page = await account(name, asked)
      if (page) return page
      const handle = toActorHandle(name, urls.host)
      if (!(await findChannelByHandle(db, handle))) return undefined
      const tab = asked.tab !== undefined && asked.tab in CHANNEL_TABS ? asked.tab : 'videos'
      return asked.reply.redirect(`/c/${encodeURIComponent(name)}/${tab}`, 302)
    },
  }
}

/** A remote actor has only those that arrived here. */
const noVideos = ({ host }: ActorProfile, of: Owner): Localized => {
  if (host === null) return t('There are no videos yet.')
  return 'channelId' in of
    ? t('This server has no videos of this channel from {host} yet. It receives new ones after a local user subscribes.', { host })
    : t('This server has no videos of this account from {host} yet.', { host })
}

const tabsOf = (base: string, names: Partial<Record<TabName, Localized>>, open: TabName) =>
  Object.entries(names).map(([tab, name]) => ({ name, path: `${base}/${tab}`, isOpen: tab === open }))

interface Shown extends Pick<Asked, 'visit'> {
  actor: ActorProfile
  owner?: ActorProfile
  tabs: readonly Tab[]
  action: Html | null
  content: Html
}

function actorBody({ actor, owner, visit, tabs: list, action, content }: Shown, here: Here): Html {
  const banner = actor.banners.toSorted((a, b) => (b.width ?? 0) - (a.width ?? 0))[0]
  const elsewhere = actor.host === null ? undefined : webUrl(actor.url)
  return html`${bannerOf(banner?.filename)}<div class="actor">${avatarOf(actor, 96)}<div class="who"><h1 dir="auto">${actor.name}</h1>
<p class="soft">${fullHandle(actor, here)} · ${counted.subscribers(actor.followers)}</p>${
    owner && html`<p>${rich('By {name}', { name: html`<a href="${accountPath(owner)}"><bdi>${owner.name}</bdi></a>` })}</p>`
  }${elsewhere && html`<p><a href="${elsewhere}" rel="noopener">${t('Open on {host}', { host: actor.host ?? '' })}</a></p>`}${visit?.user.accountId !== (owner ?? actor).id && html`<p><a href="/a/${inPath(owner ?? actor)}/take-part" rel="nofollow">${t('Report or block')}</a></p>`}</div>${action}</div>
${tabs(t('Pages of {name}', { name: actor.name }), list)}
${content}`
}

function aboutActor(actor: ActorProfile, here: Here): Html {
  const date = day(new Date(actor.created_at))
  return html`<section class="about"><h2>${t('Description')}</h2>
${actor.description ? richText(actor.description, here) : html`<p class="soft">${t('There is no description.')}</p>`}
${actor.support && html`<h2>${t('Support')}</h2>${richText(actor.support, here)}`}
<p class="soft">${actor.host === null ? rich('Here since {date}', { date }) : rich('Known here since {date}', { date })}</p></section>`
}
