// The page of a channel or account: its description, and one of its tabs.

import type { ActorProfile, ActorSummary } from '../../../actors/actor/index.ts'
import type { ChannelRow } from '../../../actors/channel/index.ts'
import { type Html, html, rich, webUrl } from '../../../platform/html.ts'
import { t } from '../../../platform/language.ts'
import type { Here } from '../../videos/actor.view.ts'
import { accountPath, avatarPath, channelPath } from '../addresses.ts'
import { type Tab, tabs } from './listing.ts'
import { bannerOf } from './picture.ts'
import { richText } from './rich-text.ts'
import { counted, day } from './text.ts'

/** px */
const AVATAR = 96
const SMALL_AVATAR = 48

const fullHandle = ({ username, host }: ActorSummary, here: Here): string => `@${username}@${host ?? here.host}`

/** The picture of an actor, or a placeholder of the same size. */
function avatar(actor: ActorSummary, width: number): Html {
  const path = avatarPath(actor, width)
  return path === undefined
    ? html`<span class="avatar none" aria-hidden="true">${[...actor.name][0] ?? ''}</span>`
    : html`<img class="avatar" src="${path}" alt="" width="${width}" height="${width}" loading="lazy">`
}

export interface ActorPage {
  actor: ActorProfile
  /** The owner. */
  owner?: ActorProfile
  tabs: readonly Tab[]
  /** The action for the viewer. */
  action: Html | null
  content: Html
}

export function actorBody({ actor, owner, tabs: list, action, content }: ActorPage, here: Here): Html {
  const banner = actor.banners.toSorted((a, b) => (b.width ?? 0) - (a.width ?? 0))[0]
  const elsewhere = actor.host === null ? undefined : webUrl(actor.url)
  return html`${bannerOf(banner?.filename)}<div class="actor">${avatar(actor, AVATAR)}<div class="who"><h1 dir="auto">${actor.name}</h1>
<p class="soft">${fullHandle(actor, here)} · ${counted.subscribers(actor.followers)}</p>${
    owner && html`<p>${rich('By {name}', { name: html`<a href="${accountPath(owner)}"><bdi>${owner.name}</bdi></a>` })}</p>`
  }${elsewhere && html`<p><a href="${elsewhere}" rel="noopener">${t('Open on {host}', { host: actor.host ?? '' })}</a></p>`}</div>${action}</div>
${tabs(t('Pages of {name}', { name: actor.name }), list)}
${content}`
}

export function aboutActor(actor: ActorProfile, here: Here): Html {
  const date = day(new Date(actor.created_at))
  return html`<section class="about"><h2>${t('Description')}</h2>
${actor.description ? richText(actor.description, here) : html`<p class="soft">${t('There is no description.')}</p>`}
${actor.support && html`<h2>${t('Support')}</h2>${richText(actor.support, here)}`}
<p class="soft">${actor.host === null ? rich('Here since {date}', { date }) : rich('Known here since {date}', { date })}</p></section>`
}

/** Channels in a list; `button`: the action for each. */
export const channelCards = (rows: readonly ChannelRow[], here: Here, button: (row: ChannelRow) => Html | null): Html =>
  html`<ul class="channels">${rows.map(
    (row) => html`<li>${avatar(row.channel, SMALL_AVATAR)}<div class="who"><h2><a href="${channelPath(row.channel)}"><bdi>${
      row.channel.name
    }</bdi></a></h2><p class="soft">${fullHandle(row.channel, here)} · ${counted.subscribers(row.channel.followers)}</p></div>${button(
      row,
    )}</li>
`,
  )}</ul>`
