// Notification preferences of a user: a choice for each kind.

import { aboutOf } from '../../../actors/mail/index.ts'
import type { NotificationSettings } from '../../../actors/notification-setting/index.ts'
import { type Html, html } from '../../../platform/html.ts'

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
}

/** By the values of the contract (`UserNotificationSettingValue`), which are bits: 1 on the site, 2 by mail. */
const CHOICES = ['Not at all', 'On this site', 'By mail', 'On this site and by mail']

export function notificationSettingsBody(form: NotificationSettingsForm): Html {
  const { names, wrong, token, sendsMail, isSaved } = form
  return html`<section aria-labelledby="notifications"><h2 id="notifications">Notifications</h2>
${isSaved && wrong.size === 0 && html`<p role="status">Your choices are saved.</p>`}
${wrong.size > 0 && html`<p class="problem" role="alert">Look at the marked choices again.</p>`}
${!sendsMail && html`<p class="soft">This server sends no mails now.</p>`}
<form method="post" action="/my-account/settings/notifications" class="fields">
<input type="hidden" name="token" value="${token}">
${names.map((name) => choiceOf(name, form))}<button class="main">Keep the choices</button>
</form></section>`
}

function choiceOf(name: SettingName, { settings, wrong }: NotificationSettingsForm): Html {
  const isWrong = wrong.has(name)
  const about = aboutOf[name]
  return html`<label for="${name}">${about.charAt(0).toUpperCase() + about.slice(1)}</label>
<select id="${name}" name="${name}"${isWrong && html` aria-invalid="true" aria-describedby="${name}-problem"`}>${CHOICES.map(
    (choice, value) => html`<option value="${value}"${value === settings[name] && html` selected`}>${choice}</option>`,
  )}</select>
${isWrong && html`<p class="problem" id="${name}-problem">Choose one of these.</p>`}`
}
