// The registration form, and its results.

import { type Html, html } from '../../../platform/html.ts'

/** The entered values, without passwords. */
export type SignupTyped = Partial<
  Record<'username' | 'email' | 'displayName' | 'channelName' | 'channelDisplayName' | 'registrationReason', string | undefined>
>

export interface SignupForm {
  typed: SignupTyped
  /** Names of invalid fields. */
  wrong: ReadonlySet<string>
  problem: string | undefined
  token: string
  /** Years; 0: any. */
  minimumAge: number
  verifiesEmail: boolean
  /** True if moderators approve registrations. */
  needsApproval: boolean
}

/** For browsers that check it; the rules are those of `registrations/fields.ts`. */
const NAME_PATTERN = '[a-z0-9_]([a-z0-9_.\\-]*[a-z0-9_])?'
const NAME_RULE = 'Small letters, digits, _ . and -, not ending with . or -, at most 50.'

export function signupBody(form: SignupForm): Html {
  const { typed, wrong, problem, token, minimumAge, verifiesEmail, needsApproval } = form
  const field = fieldOf(wrong)
  const name = html` maxlength="50" pattern="${NAME_PATTERN}" autocapitalize="none" spellcheck="false"`
  const typedAs = (key: keyof SignupTyped) => html` value="${typed[key] ?? ''}"`
  const age = minimumAge > 0 ? `I am at least ${minimumAge} years old, and I` : 'I'
  return html`<h1>Sign up</h1>
${needsApproval && html`<p>The moderators of this server look at each request before there is an account.</p>`}
<form method="post" action="/signup" class="fields">
${summaryOf(wrong, problem)}
<input type="hidden" name="token" value="${token}">
${field('username', 'User name', NAME_RULE, html` required autocomplete="username"${name}${typedAs('username')}`)}
${field(
  'email',
  'E-mail address',
  verifiesEmail ? 'A mail with a link will be sent to it.' : 'An address such as me@example.org.',
  html` type="text" inputmode="email" required maxlength="254" autocomplete="email"${typedAs('email')}`,
)}
${field(
  'password',
  'Password',
  '6 to 255 characters.',
  html` type="password" required minlength="6" maxlength="255" autocomplete="new-password"`,
)}
${field(
  'displayName',
  html`Name that others see ${optional}`,
  'At most 120 characters.',
  html` maxlength="120" autocomplete="name"${typedAs('displayName')}`,
)}
<fieldset><legend>Your first channel ${optional}</legend>
${field('channelName', 'Name in its address', `${NAME_RULE} Another one than the user name.`, html` autocomplete="off"${name}${typedAs('channelName')}`)}
${field('channelDisplayName', 'Name that others see', 'At most 120 characters.', html` maxlength="120" autocomplete="off"${typedAs('channelDisplayName')}`)}
</fieldset>
${needsApproval && reasonOf(typed.registrationReason, wrong.has('registrationReason'))}
<p class="choice"><input id="terms" name="terms" type="checkbox" value="yes" required${describedBy('terms', wrong)}> <label for="terms">${age} agree to <a href="/about">the terms of this server</a>.</label></p>
${wrong.has('terms') && html`<p class="problem" id="terms-rule">You cannot sign up without this.</p>`}
<button class="main">${needsApproval ? 'Ask for an account' : 'Sign up'}</button>
</form>
<p><a href="/login">Log in</a> if you have an account already.</p>`
}

const optional = html`<span class="soft">(may be left out)</span>`

function summaryOf(wrong: ReadonlySet<string>, problem: string | undefined): Html | null {
  const text = problem ?? (wrong.size > 0 ? 'Look at the marked fields again.' : undefined)
  return text === undefined ? null : html`<p class="problem" role="alert">${text}</p>`
}

/** The rule of a field is shown below it, and is the error if it is invalid. */
const fieldOf =
  (wrong: ReadonlySet<string>) =>
  (id: string, label: Html | string, rule: string, attributes: Html): Html =>
    html`<label for="${id}">${label}</label>
<input id="${id}" name="${id}"${attributes} aria-describedby="${id}-rule"${wrong.has(id) && html` aria-invalid="true"`}>
<p class="${wrong.has(id) ? 'problem' : 'soft'}" id="${id}-rule">${rule}</p>`

const describedBy = (id: string, wrong: ReadonlySet<string>): Html | null =>
  wrong.has(id) ? html` aria-describedby="${id}-rule" aria-invalid="true"` : null

const reasonOf = (text: string | undefined, isWrong: boolean): Html =>
  html`<label for="registrationReason">Why do you want to join?</label>
<textarea id="registrationReason" name="registrationReason" required minlength="2" maxlength="3000" rows="5" aria-describedby="registrationReason-rule"${
    isWrong && html` aria-invalid="true"`
  }>
${text}</textarea>
<p class="${isWrong ? 'problem' : 'soft'}" id="registrationReason-rule">2 to 3000 characters, for the moderators.</p>`

export const signupClosedBody = (reason: string): Html =>
  html`<h1>Sign up</h1>
<p class="problem" role="alert">Nobody can sign up here now: ${reason.replace(/\.$/, '')}.</p>
<p>With an account elsewhere in the fediverse you can subscribe to the channels of this server. <a href="/about">About this server</a></p>`

export interface SignupDone {
  email: string
  verifiesEmail: boolean
  needsApproval: boolean
  /** True if this server can send mails. */
  sendsMail: boolean
}

export const signupDoneBody = ({ email, verifiesEmail, needsApproval, sendsMail }: SignupDone): Html =>
  html`<h1>${needsApproval ? 'Your request is there' : 'Your account is there'}</h1>
${verifiesEmail && html`<p role="status">A mail is on its way to <bdi>${email}</bdi>: follow the link in it to show that the address is yours.</p>`}
${
  needsApproval
    ? html`<p>A moderator decides on your request. ${sendsMail ? 'You will get a mail.' : 'This server sends no mails: try to log in later.'}</p>`
    : html`<p><a class="button main" href="/login">Log in</a>${verifiesEmail && ' once the address is verified'}</p>`
}`

export const loggedInBody = (username: string): Html =>
  html`<h1>Sign up</h1>
<p>You are logged in as <strong>${username}</strong>. <a href="/logout">Log out</a> to make another account.</p>`
