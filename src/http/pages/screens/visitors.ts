// Screens that visitors may use, too: messages to the operator, registration, and where the links of mails lead.

import { DomainError } from '../../../actors/runtime/index.ts'
import { type Config, isMailEnabled } from '../../../config/index.ts'
import { type Html, html, rich } from '../../../platform/html.ts'
import { recognized, t } from '../../../platform/language.ts'
import { clientIp } from '../../plugins/client-ip.ts'
import { linkTo } from '../bodies/text.ts'
import { type Ending, type FormPart, form, type Screen, type Shown } from './parts.ts'
import { sendsMail } from './words.ts'

export const isContactable = (config: Config): boolean => config.contact_form.enabled && isMailEnabled(config)
const mailAddress = html` inputmode="email" autocomplete="email"`
/** A space at the end comes from the keyboards of telephones. */
const trimmed = (made: object): object =>
  Object.fromEntries(
    Object.entries(made).map(([name, text]) => [name, name === 'password' ? text : String(text ?? '').trim() || undefined]),
  )

const NO_CONTACT = html`<p>${t('This server takes no messages here.')} <a href="/about">${t('About this server')}</a></p>`

const contact: Screen = {
  path: '/about/contact',
  title: t('Contact'),
  heading: ({ tools }) => t('Write to {name}', { name: tools.config().instance.name }),
  instead: ({ tools }) => (isContactable(tools.config()) ? undefined : { heading: t('Contact'), body: NO_CONTACT }),
  parts: [
    form('contact', 'POST /api/v1/server/contact', {
      fields: {
        fromName: { label: t('Your name'), required: true, also: html` autocomplete="name"` },
        fromEmail: { label: t('Your e-mail address'), also: mailAddress },
        subject: t('Subject'),
        body: t('Message'),
      },
      button: t('Send'),
      ends: () => ({ heading: t('Sent'), body: html`<p>${t('Your message is on its way.')} <a href="/">${t('Latest videos')}</a></p>` }),
    }),
  ],
}

/** For browsers that check it; the rules are those of `users/fields.ts`. */
const localName = html` pattern="[a-z0-9_]([a-z0-9_.\\-]*[a-z0-9_])?" autocapitalize="none" spellcheck="false"`
const NAME_RULE = t('Small letters, digits, _ . and -, not ending with . or -, at most 50.')
const CHANNEL = t('Your first channel')
const needsApproval = ({ tools }: Shown): boolean => tools.config().signup.requires_approval

const closed = (reason: string): Ending => ({
  heading: t('Sign up'),
  body: html`<p class="problem" role="alert">${t('Nobody can sign up here now: {reason}', { reason: recognized(reason) })}</p>
<p>${t('With an account elsewhere in the fediverse you can subscribe to the channels of this server.')} <a href="/about">${t('About this server')}</a></p>`,
})

async function closedSignup(shown: Shown): Promise<Ending | undefined> {
  const { visit, tools, request } = shown
  if (visit) {
    const values = { name: html`<strong>${visit.user.username}</strong>`, ...linkTo('/logout') }
    const body = html`<p>${rich('You are logged in as {name}. <a>Log out</a> to make another account.', values)}</p>`
    return { heading: t('Sign up'), body }
  }
  try {
    await tools.registrations.assertOpen(needsApproval(shown) ? 'request' : 'direct', clientIp(request))
    return undefined
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'forbidden') return closed(error.message)
    throw error
  }
}

/** At once, or with a request that moderators approve. */
const signup = (asks: boolean): FormPart => ({
  form: asks ? 'request' : 'signup',
  operation: asks ? 'POST /api/v1/users/registrations/request' : 'POST /api/v1/users/register',
  when: (shown) => needsApproval(shown) === asks,
  ...(asks ? { text: t('The moderators of this server look at each request before there is an account.') } : {}),
  fields: (shown) => {
    const { requires_email_verification: verifies, minimum_age: age } = shown.tools.config().signup
    const terms = (inside: Html) => html`<a href="/about">${inside}</a>`
    return {
      username: { label: t('User name'), help: NAME_RULE, also: html`${localName} autocomplete="username"` },
      email: {
        label: t('E-mail address'),
        help: verifies ? t('A mail with a link will be sent to it.') : t('An address such as me@example.org.'),
        also: mailAddress,
      },
      password: { label: t('Password'), as: 'password', help: t('6 to 255 characters.'), also: html` autocomplete="new-password"` },
      displayName: { label: t('Name that others see'), help: t('At most 120 characters.'), also: html` autocomplete="name"` },
      ...(asks
        ? { registrationReason: { label: t('Why do you want to join?'), help: t('2 to 3000 characters, for the moderators.') } }
        : {}),
      'channel.name': {
        label: t('Name in its address'),
        group: CHANNEL,
        help: html`${NAME_RULE} ${t('Another one than the user name.')}`,
        also: localName,
      },
      'channel.displayName': { label: t('Name that others see'), group: CHANNEL, help: t('At most 120 characters.') },
      terms: {
        label:
          age > 0
            ? rich('I am at least {age} years old, and I agree to <terms>the terms of this server</terms>.', { age, terms })
            : rich('I agree to <terms>the terms of this server</terms>.', { terms }),
        group: CHANNEL,
        as: 'check',
        also: html` required`,
      },
    }
  },
  rules: (text) => ({
    'channel.name': text('channel.name') !== '' && text('channel.name') === text('username') && t('Another one than the user name.'),
    terms: text('terms') !== 'true' && t('You cannot sign up without this.'),
  }),
  body: (text, made) => {
    const [name, displayName] = [text('channel.name').trim(), text('channel.displayName').trim()]
    return { ...trimmed(made), channel: name || displayName ? { name, displayName: displayName || name } : undefined }
  },
  refused: ({ status, detail }) => (status === 403 ? closed(detail) : undefined),
  button: asks ? t('Ask for an account') : t('Sign up'),
  ends: (text, shown) => {
    const verifies = shown.tools.config().signup.requires_email_verification
    const address = html`<bdi>${text('email').trim()}</bdi>`
    return {
      heading: asks ? t('Your request is there') : t('Your account is there'),
      body: html`${verifies && html`<p role="status">${rich('A mail is on its way to {address}: follow the link in it to show that the address is yours.', { address })}</p>`}
${
  asks
    ? html`<p>${t('A moderator decides on your request.')} ${sendsMail(shown) ? t('You will get a mail.') : t('This server sends no mails: try to log in later.')}</p>`
    : html`<p><a class="button main" href="/login">${t('Log in')}</a>${verifies && html` ${t('once the address is verified')}`}</p>`
}`,
    }
  },
})

/** A link was used, is expired or unknown: the page does not distinguish. */
const useless = (href: string): Ending => ({
  status: 403,
  heading: t('This link is of no use any more'),
  body: html`<p>${t('It was used, it is too old, or a newer mail has taken its place.')}</p>
<p><a class="button" href="${href}">${href === '/login' ? t('Log in') : t('Ask for a new link')}</a></p>`,
})

/** The page of a link that a mail has: a button does what it is for, since mail scanners open links, too. */
const linkScreen = (path: string, instead: string, screen: Pick<Screen, 'title' | 'heading' | 'parts'>): Screen => ({
  path,
  ...screen,
  isSecret: true,
  instead: ({ request, query }) => {
    const isLink = /^[1-9]\d{0,8}$/.test(ownerIn(query) ?? '') && query('verificationString') !== undefined
    return request.method === 'POST' || isLink ? undefined : useless(instead)
  },
})

const ownerIn = (query: Shown['query']) => query('userId') ?? query('registrationId')

const linkForm = (instead: string, { fields = {}, ...form }: Omit<FormPart, 'initial' | 'refused'>): FormPart => ({
  ...form,
  fields: {
    ...Object.fromEntries(
      ['id', 'verificationString', 'isPendingEmail'].map((name) => [name, { label: t('Link'), as: 'hidden' as const }]),
    ),
    ...fields,
  },
  initial: ({ query }) => ({
    id: ownerIn(query),
    verificationString: query('verificationString'),
    isPendingEmail: query('isPendingEmail'),
  }),
  inPath: ['id'],
  limit: 'login',
  refused: ({ status, fields }) => ([403, 404].includes(status) || !fields.has('password') ? useless(instead) : undefined),
})

const ASK = '/login/ask-reset-password'
const NO_MAILS = html`<p>${rich('This server sends no mails. Ask <a>who runs it</a> for a new password.', linkTo('/about'))}</p>`
const TO_LOGIN = html`<p><a href="/login">${t('Log in')}</a></p>`
const TO_WAIT = html`<p>${t('A moderator decides on your request now. You will get a mail.')}</p>`

const haveAccount = () => html`<p>${rich('<a>Log in</a> if you have an account already.', linkTo('/login'))}</p>`

export const visitorScreens: readonly Screen[] = [
  contact,
  { path: '/signup', title: t('Sign up'), instead: closedSignup, parts: [signup(false), signup(true), haveAccount] },
  linkScreen('/verify-account/email', '/login', {
    title: t('Your e-mail address'),
    heading: () => t('Is this your e-mail address?'),
    parts: [
      ['user', 'POST /api/v1/users/:id/verify-email', TO_LOGIN] as const,
      ['registration', 'POST /api/v1/users/registrations/:registrationId/verify-email', TO_WAIT] as const,
    ].map(([form, operation, body]) =>
      linkForm('/login', {
        form,
        operation,
        text: t('With this button you show that the address is yours to which the mail was sent that led you here.'),
        button: t('Verify the address'),
        when: ({ query }) => (query('registrationId') !== undefined) === (form === 'registration'),
        ends: () => ({ heading: t('The address is verified'), body }),
      }),
    ),
  }),
  linkScreen('/reset-password', ASK, {
    title: t('A new password'),
    parts: [
      linkForm(ASK, {
        form: 'reset',
        operation: 'POST /api/v1/users/:id/reset-password',
        fields: { password: { label: t('New password'), as: 'password', also: html` autocomplete="new-password"` } },
        button: t('Set the password'),
        ends: () => ({ heading: t('Your new password holds'), body: TO_LOGIN }),
      }),
      () => html`<p class="soft">${t('All sessions of this account end with it.')}</p>`,
    ],
  }),
  {
    path: ASK,
    title: t('A new password'),
    heading: () => t('Forgot your password?'),
    isSecret: true,
    instead: (shown) => (sendsMail(shown) ? undefined : { heading: t('Forgot your password?'), body: NO_MAILS }),
    parts: [
      form('ask', 'POST /api/v1/users/ask-reset-password', {
        limit: 'ask_send_email',
        fields: { email: { label: t('E-mail address of your account'), also: mailAddress } },
        body: (_text, made) => trimmed(made),
        button: t('Send me a link'),
        // The same whether or not an account has the address.
        ends: (text) => ({
          heading: t('Look at your mails'),
          body: html`<p>${rich('If an account of this server has the address {address}, a link to a new password is on its way to it.', { address: html`<bdi>${text('email').trim()}</bdi>` })}</p>
<p class="soft">${t('Nothing comes? Look among the unwanted mails, and ask again in some minutes.')}</p>`,
        }),
      }),
    ],
  },
]
