// Subscribing: with a click for logged-in users, from their own server for everybody else.

import type { ActorSummary } from '../../../actors/actor/index.ts'
import { type Html, html, rich } from '../../../platform/html.ts'
import { type Localized, t } from '../../../platform/language.ts'
import { loginPath } from '../../plugins/local-path.ts'
import type { Here } from '../../videos/actor.view.ts'
import { linkTo } from './text.ts'

export interface SubscribeForm {
  channel: ActorSummary
  here: Here
  isSubscribed: boolean
  next: string
  token: string
}

export const subscribeButton = ({ channel, here, isSubscribed, next, token }: SubscribeForm): Html =>
  html`<form method="post" action="/subscriptions" class="subscribe" data-swap>
<input type="hidden" name="channel" value="${channel.username}@${channel.host ?? here.host}"><input type="hidden" name="wanted" value="${
    isSubscribed ? 'no' : 'yes'
  }"><input type="hidden" name="next" value="${next}"><input type="hidden" name="token" value="${token}">
<button id="subscribe-${channel.id}"${isSubscribed ? null : html` class="main"`} aria-label="${isSubscribed ? t('Unsubscribe from {name}', { name: channel.name }) : t('Subscribe to {name}', { name: channel.name })}">${
    isSubscribed ? t('Unsubscribe') : t('Subscribe')
  }</button></form>`

export interface RemoteSubscribeForm {
  kind: 'account' | 'channel'
  /** The path segment of its page. */
  actor: string
  handle?: string | undefined
  problem?: Localized | undefined
}

/** For visitors: the form for their own server. */
export const remoteSubscribe = ({ kind, actor, handle, problem }: RemoteSubscribeForm): Html =>
  html`<form method="post" action="/remote-subscribe" class="fields">
<input type="hidden" name="kind" value="${kind}"><input type="hidden" name="actor" value="${actor}">
<label for="handle">${t('Your handle on your own server')}</label>
${problem && html`<p class="problem" id="handle-problem" role="alert">${problem}</p>`}
<div class="row"><input id="handle" name="handle" required maxlength="300" autocapitalize="none" autocomplete="email" spellcheck="false" placeholder="@me@my.server"${
    handle ? html` value="${handle}"` : null
  }${problem ? html` aria-describedby="handle-problem" aria-invalid="true"` : null}><button class="main">${t('Subscribe')}</button></div>
</form>`

/** The same, collapsed, with a link to log in here. */
export const visitorSubscribe = (form: RemoteSubscribeForm, next: string): Html =>
  html`<details class="subscribe"><summary class="button main">${t('Subscribe')}</summary>
<div class="box">${remoteSubscribe(form)}
<p>${rich('<a>Log in</a> if you have an account here.', linkTo(loginPath(next)))}</p></div></details>`
