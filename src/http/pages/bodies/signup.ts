// The registration form, and its results.

import { type Html, html, rich } from '../../../platform/html.ts'
import { type Localized, recognized, t } from '../../../platform/language.ts'

/** The entered values, without passwords. */
export type SignupTyped = Partial<
  Record<'username' | 'email' | 'displayName' | 'channelName' | 'channelDisplayName' | 'registrationReason', string | undefined>
>

export interface SignupForm {
  typed: SignupTyped
  /** Names of invalid fields. */
  wrong: ReadonlySet<string>
  problem: Localized | undefined
  token: string
  /** Years; 0: any. */
  minimumAge: number
  verifiesEmail: boolean
  /** True if moderators approve registrations. */
  needsApproval: boolean
}

/** For browsers that check it; the rules are those of `registrations/fields.ts`. */
const NAME_PATTERN = '[a-z0-9_]([a-z0-9_.\\-]*[a-z0-9_])?'
const NAME_RULE = t('Small letters, digits, _ . and -, not ending with . or -, at most 50.')

export function signupBody(form: SignupForm): Html {
  const { typed, wrong, problem, token, minimumAge, verifiesEmail, needsApproval } = form
  const field = fieldOf(wrong)
  const name = html` maxlength="50" pattern="${NAME_PATTERN}" autocapitalize="none" spellcheck="false"`
  const typedAs = (key: keyof SignupTyped) => html` value="${typed[key] ?? ''}"`
  const terms = (inside: Html) => html`<a href="/about">${inside}</a>`
  return html`<h1>${t('Sign up')}</h1>
${needsApproval && html`<p>${t('The moderators of this server look at each request before there is an account.')}</p>`}
<form method="post" action="/signup" class="fields">
${summaryOf(wrong, problem)}
<input type="hidden" name="token" value="${token}">
${field('username', t('User name'), NAME_RULE, html` required autocomplete="username"${name}${typedAs('username')}`)}
${field(
  'email',
  t('E-mail address'),
  verifiesEmail ? t('A mail with a link will be sent to it.') : t('An address such as me@example.org.'),
  html` type="text" inputmode="email" required maxlength="254" autocomplete="email"${typedAs('email')}`,
)}
${field(
  'password',
  t('Password'),
  t('6 to 255 characters.'),
  html` type="password" required minlength="6" maxlength="255" autocomplete="new-password"`,
)}
${field(
  'displayName',
  html`${t('Name that others see')} ${optional}`,
  t('At most 120 characters.'),
  html` maxlength="120" autocomplete="name"${typedAs('displayName')}`,
)}
<fieldset><legend>${t('Your first channel')} ${optional}</legend>
${field('channelName', t('Name in its address'), html`${NAME_RULE} ${t('Another one than the user name.')}`, html` autocomplete="off"${name}${typedAs('channelName')}`)}
${field('channelDisplayName', t('Name that others see'), t('At most 120 characters.'), html` maxlength="120" autocomplete="off"${typedAs('channelDisplayName')}`)}
</fieldset>
${needsApproval && reasonOf(typed.registrationReason, wrong.has('registrationReason'))}
<p class="choice"><input id="terms" name="terms" type="checkbox" value="yes" required${describedBy('terms', wrong)}> <label for="terms">${
    minimumAge > 0
      ? rich('I am at least {age} years old, and I agree to <terms>the terms of this server</terms>.', { age: minimumAge, terms })
      : rich('I agree to <terms>the terms of this server</terms>.', { terms })
  }</label></p>
${wrong.has('terms') && html`<p class="problem" id="terms-rule">${t('You cannot sign up without this.')}</p>`}
<button class="main">${needsApproval ? t('Ask for an account') : t('Sign up')}</button>
</form>
<p>${rich('<a>Log in</a> if you have an account already.', { a: (inside) => html`<a href="/login">${inside}</a>` })}</p>`
}

const optional = html`<span class="soft">${t('(may be left out)')}</span>`

function summaryOf(wrong: ReadonlySet<string>, problem: Localized | undefined): Html | null {
  const text = problem ?? (wrong.size > 0 ? t('Look at the marked fields again.') : undefined)
  return text === undefined ? null : html`<p class="problem" role="alert">${text}</p>`
}

/** The rule of a field is shown below it, and is the error if it is invalid. */
const fieldOf =
  (wrong: ReadonlySet<string>) =>
  (id: string, label: Html | Localized, rule: Html | Localized, attributes: Html): Html =>
    html`<label for="${id}">${label}</label>
<input id="${id}" name="${id}"${attributes} aria-describedby="${id}-rule"${wrong.has(id) && html` aria-invalid="true"`}>
<p class="${wrong.has(id) ? 'problem' : 'soft'}" id="${id}-rule">${rule}</p>`

const describedBy = (id: string, wrong: ReadonlySet<string>): Html | null =>
  wrong.has(id) ? html` aria-describedby="${id}-rule" aria-invalid="true"` : null

const reasonOf = (text: string | undefined, isWrong: boolean): Html =>
  html`<label for="registrationReason">${t('Why do you want to join?')}</label>
<textarea id="registrationReason" name="registrationReason" required minlength="2" maxlength="3000" rows="5" aria-describedby="registrationReason-rule"${
    isWrong && html` aria-invalid="true"`
  }>
${text}</textarea>
<p class="${isWrong ? 'problem' : 'soft'}" id="registrationReason-rule">${t('2 to 3000 characters, for the moderators.')}</p>`

export const signupClosedBody = (reason: string): Html =>
  html`<h1>${t('Sign up')}</h1>
<p class="problem" role="alert">${t('Nobody can sign up here now: {reason}', { reason: recognized(reason) })}</p>
<p>${t('With an account elsewhere in the fediverse you can subscribe to the channels of this server.')} <a href="/about">${t('About this server')}</a></p>`

export interface SignupDone {
  email: string
  verifiesEmail: boolean
  needsApproval: boolean
  /** True if this server can send mails. */
  sendsMail: boolean
}

export const signupDoneBody = ({ email, verifiesEmail, needsApproval, sendsMail }: SignupDone): Html =>
  html`<h1>${needsApproval ? t('Your request is there') : t('Your account is there')}</h1>
${verifiesEmail && html`<p role="status">${rich('A mail is on its way to {address}: follow the link in it to show that the address is yours.', { address: html`<bdi>${email}</bdi>` })}</p>`}
${
  needsApproval
    ? html`<p>${t('A moderator decides on your request.')} ${sendsMail ? t('You will get a mail.') : t('This server sends no mails: try to log in later.')}</p>`
    : html`<p><a class="button main" href="/login">${t('Log in')}</a>${verifiesEmail && html` ${t('once the address is verified')}`}</p>`
}`

export const loggedInBody = (username: string): Html =>
  html`<h1>${t('Sign up')}</h1>
<p>${rich('You are logged in as {name}. <a>Log out</a> to make another account.', {
    name: html`<strong>${username}</strong>`,
    a: (inside) => html`<a href="/logout">${inside}</a>`,
  })}</p>`
