// Notification preferences of a user: a choice for each kind.

import { aboutOf } from '../../../actors/mail/index.ts'
import type { NotificationSettings } from '../../../actors/notification-setting/index.ts'
import { type Html, html } from '../../../platform/html.ts'
import { known, t } from '../../../platform/language.ts'
import { capital } from './text.ts'

/** Where the form of devices is sent; the script of the pages names it, too. */
export const DEVICES = '/my-account/settings/devices'

export type SettingName = keyof NotificationSettings

export interface NotificationSettingsForm {
  settings: NotificationSettings
  /** The shown settings, in order. */
  names: readonly SettingName[]
  /** Settings with an invalid choice. */
  wrong: ReadonlySet<SettingName>
  token: string
  /** True if this server can send mails. */
  sendsMail: boolean
  isSaved: boolean
  /** The browsers that notifications are pushed to, and the key for others. */
  push: { publicKey: string; total: number }
  userId: number
}

/** By the values of the contract (`UserNotificationSettingValue`), which are bits: 1 on the site, 2 by mail. */
const CHOICES = [t('Not at all'), t('On this site'), t('By mail'), t('On this site and by mail')]

export function notificationSettingsBody(form: NotificationSettingsForm): Html {
  const { names, wrong, token, sendsMail, isSaved, push, userId } = form
  return html`<section aria-labelledby="notifications"><h2 id="notifications">${t('Notifications')}</h2>
${isSaved && wrong.size === 0 && html`<p role="status">${t('Your choices are saved.')}</p>`}
${wrong.size > 0 && html`<p class="problem" role="alert">${t('Look at the marked choices again.')}</p>`}
${!sendsMail && html`<p class="soft">${t('This server sends no mails now.')}</p>`}
<form method="post" action="/my-account/settings/notifications" class="fields">
<input type="hidden" name="token" value="${token}">
${names.map((name) => choiceOf(name, form))}<button class="main">${t('Save')}</button>
</form>
<form method="post" action="${DEVICES}" class="fields" data-push="${push.publicKey}" data-user="${userId}">
<input type="hidden" name="token" value="${token}">
<p hidden><label><input type="checkbox"> ${t('Notify this device')}</label> <output></output></p>
${
  push.total > 0 &&
  html`<p>${t('{count, plural, one {# device is notified.} other {# devices are notified.}}', { count: push.total })}</p><button>${t('Notify no device')}</button>`
}</form></section>`
}

function choiceOf(name: SettingName, { settings, wrong }: NotificationSettingsForm): Html {
  const isWrong = wrong.has(name)
  const about = aboutOf[name]
  return html`<label for="${name}">${known(capital(about))}</label>
<select id="${name}" name="${name}"${isWrong && html` aria-invalid="true" aria-describedby="${name}-problem"`}>${CHOICES.map(
    (choice, value) => html`<option value="${value}"${value === settings[name] && html` selected`}>${choice}</option>`,
  )}</select>
${isWrong && html`<p class="problem" id="${name}-problem">${t('Choose one of these.')}</p>`}`
}
