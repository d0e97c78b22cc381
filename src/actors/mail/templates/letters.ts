// The texts of mails. Those to the administrator's address are in English.

import { type Localized, t } from '../../../platform/language.ts'
import type { Block, Letter } from './layout.ts'
import { oneLine } from './untrusted-text.ts'

interface To {
  username: string
  instanceName: string
}

const NOT_YOU = t('If this was not you, ignore this mail: nothing changes without the link.')

/** `lifetimeMs`: validity of the link. */
export const verifyEmail = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: t('Verify your email address on {instanceName}', { instanceName }),
  heading: t('Verify your email address'),
  blocks: [
    { say: t('Hello {username},', { username }) },
    { say: t('your account on {instanceName} uses this email address. Please confirm that it is yours.', { instanceName }) },
    { link: t('Verify the address'), url },
    { say: t('The link works once and expires in {lifetime}. {notYou}', { lifetime: inWords(lifetimeMs), notYou: NOT_YOU }) },
  ],
})

export const verifyNewEmail = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: t('Verify your new email address on {instanceName}', { instanceName }),
  heading: t('Verify your new email address'),
  blocks: [
    { say: t('Hello {username},', { username }) },
    {
      say: t(
        'you asked to use this email address for your account on {instanceName}. The old address stays until you verify the new one.',
        { instanceName },
      ),
    },
    { link: t('Verify the new address'), url },
    { say: t('The link works once and expires in {lifetime}. {notYou}', { lifetime: inWords(lifetimeMs), notYou: NOT_YOU }) },
  ],
})

export const verifyRegistration = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: t('Verify your email address to request an account on {instanceName}', { instanceName }),
  heading: t('Verify your email address'),
  blocks: [
    { say: t('Hello {username},', { username }) },
    { say: t('you requested an account on {instanceName} with this email address. Please confirm that it is yours.', { instanceName }) },
    { link: t('Verify the address'), url },
    {
      say: t('The link expires in {lifetime}. Afterwards a moderator decides on your request. {notYou}', {
        lifetime: inWords(lifetimeMs),
        notYou: NOT_YOU,
      }),
    },
  ],
})

export const resetPassword = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: t('Reset the password of your account on {instanceName}', { instanceName }),
  heading: t('Reset your password'),
  blocks: [
    { say: t('Hello {username},', { username }) },
    { say: t('a new password was requested for your account {username} on {instanceName}.', { username, instanceName }) },
    { link: t('Choose a new password'), url },
    {
      say: t('The link works once and expires in {lifetime}. A new password logs you out everywhere. {notYou}', {
        lifetime: inWords(lifetimeMs),
        notYou: NOT_YOU,
      }),
    },
  ],
})

export const createPassword = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: t('Your account on {instanceName} was created: set your password', { instanceName }),
  heading: t('Your account was created'),
  blocks: [
    { say: t('Hello {username},', { username }) },
    { say: t('an administrator created an account for you on {instanceName}. Your username is {username}.', { instanceName, username }) },
    { link: t('Set your password'), url },
    { say: t('The link works once and expires in {lifetime}.', { lifetime: inWords(lifetimeMs) }) },
  ],
})

export const registrationAccepted = (mail: To & { response: string; url: string }): Letter => ({
  subject: t('Your registration request for the account {username} was accepted', { username: mail.username }),
  heading: t('Welcome to {instanceName}', { instanceName: mail.instanceName }),
  blocks: [
    { say: t('Hello {username},', { username: mail.username }) },
    { say: t('your registration request was accepted, and your account on {instanceName} is ready.', { instanceName: mail.instanceName }) },
    ...answer(mail.response),
    { link: t('Log in'), url: mail.url },
  ],
})

export const registrationRejected = (mail: To & { response: string }): Letter => ({
  subject: t('Your registration request for the account {username} was rejected', { username: mail.username }),
  heading: t('Your registration request was rejected'),
  blocks: [
    { say: t('Hello {username},', { username: mail.username }) },
    { say: t('your request for an account on {instanceName} was rejected.', { instanceName: mail.instanceName }) },
    ...answer(mail.response),
  ],
})

/** Numbers of imported, existing and failed objects of the archive. */
export const importCompleted = (mail: To & { url: string; success: number; duplicates: number; errors: number }): Letter => ({
  subject: t('Your archive was imported on {instanceName}', { instanceName: mail.instanceName }),
  heading: t('Your archive was imported'),
  blocks: [
    { say: t('Hello {username},', { username: mail.username }) },
    { say: t('the import of your archive into your account on {instanceName} is finished.', { instanceName: mail.instanceName }) },
    {
      say: t('Imported: {success}. Already present: {duplicates}. Failed: {errors}. New videos may still be transcoding.', {
        success: mail.success,
        duplicates: mail.duplicates,
        errors: mail.errors,
      }),
    },
    { link: t('See your imports'), url: mail.url },
  ],
})

export const importFailed = (mail: To & { url: string; reason: string }): Letter => ({
  subject: t('The import of your archive on {instanceName} failed', { instanceName: mail.instanceName }),
  heading: t('The import of your archive failed'),
  blocks: [
    { say: t('Hello {username},', { username: mail.username }) },
    { say: t('your archive could not be imported into your account on {instanceName}. The reason:', { instanceName: mail.instanceName }) },
    { quote: mail.reason },
    { say: t('What was imported before the failure stays. You can import the archive again: nothing is imported twice.') },
    { link: t('See your imports'), url: mail.url },
  ],
})

export const userBlocked = (mail: To & { reason: string | null }): Letter => ({
  subject: t('Your account {username} was blocked', { username: mail.username }),
  heading: t('Your account was blocked'),
  blocks: [
    { say: t('Hello {username},', { username: mail.username }) },
    { say: t('the moderators blocked your account on {instanceName}.', { instanceName: mail.instanceName }) },
    ...answer(mail.reason ?? ''),
  ],
})

export const userUnblocked = (mail: To & { url: string }): Letter => ({
  subject: t('Your account {username} was unblocked', { username: mail.username }),
  heading: t('Your account was unblocked'),
  blocks: [
    { say: t('Hello {username},', { username: mail.username }) },
    { say: t('your account on {instanceName} is no longer blocked.', { instanceName: mail.instanceName }) },
    { link: t('Log in'), url: mail.url },
  ],
})

export const exportReady = ({ username, instanceName, url }: To & { url: string }): Letter => ({
  subject: t('Your export archive has been created'),
  heading: t('Your export archive is ready'),
  blocks: [
    { say: t('Hello {username},', { username }) },
    {
      say: t('the archive of your data on {instanceName} is ready to download. It is deleted after a few days.', { instanceName }),
    },
    { link: t('Download the archive'), url },
  ],
})

export const exportFailed = ({ username, instanceName, url }: To & { url: string }): Letter => ({
  subject: t('Your export archive could not be created'),
  heading: t('Your export archive could not be created'),
  blocks: [
    { say: t('Hello {username},', { username }) },
    {
      say: t('the archive of your data on {instanceName} could not be created. You can request it again.', { instanceName }),
    },
    { link: t('Request the archive'), url },
  ],
})

export const contactForm = (mail: {
  name: string | null
  email: string
  subject: string | null
  body: string
  instanceName: string
}): Letter => ({
  subject: mail.subject?.trim() || `A message to ${mail.instanceName}`,
  heading: 'A message from the contact form',
  blocks: [
    {
      say: `${oneLine(mail.name ?? '') || 'Somebody'} (${mail.email}) wrote through the contact form of ${mail.instanceName}:`,
    },
    { quote: mail.body },
    { say: 'Reply to this mail to answer. The address was given by the sender and is not verified.' },
  ],
})

export const pluginFailed = (mail: { name: string; failure: string; instanceName: string; url: string }): Letter => ({
  subject: `A plugin of ${mail.instanceName} was switched off`,
  heading: 'A plugin was switched off',
  blocks: [
    {
      say: `The plugin ${mail.name} of ${mail.instanceName} failed again and again, so that the server has switched it off. The last reason:`,
    },
    { quote: mail.failure },
    { link: 'Plugins', url: mail.url },
  ],
})

/** The moderators' text, if any. */
const answer = (text: string): Block[] => (text === '' ? [] : [{ say: t('The moderators wrote:') }, { markdown: text }])

interface Link {
  url: string
  lifetimeMs: number
}

type Unit = readonly [words: (count: number) => Localized, ms: number]
const MINUTES: Unit = [(count) => t('{count, plural, one {# minute} other {# minutes}}', { count }), 60_000]
const UNITS: readonly Unit[] = [
  [(count) => t('{count, plural, one {# day} other {# days}}', { count }), 86_400_000],
  [(count) => t('{count, plural, one {# hour} other {# hours}}', { count }), 3_600_000],
  MINUTES,
]

/** `7 days`, `90 minutes`: in the largest exact unit, otherwise in whole minutes, rounded down. */
export function inWords(ms: number): Localized {
  const [words, size] = UNITS.find(([, length]) => ms >= length && ms % length === 0) ?? MINUTES
  return words(Math.max(1, Math.floor(ms / size)))
}
