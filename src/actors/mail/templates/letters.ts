// The texts of mails.

import type { Block, Letter } from './layout.ts'
import { oneLine } from './untrusted-text.ts'

interface To {
  username: string
  instanceName: string
}

const NOT_YOU = 'If this was not you, ignore this mail: nothing changes without the link.'

/** `lifetimeMs`: validity of the link. */
export const verifyEmail = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: `Verify your email address on ${instanceName}`,
  heading: 'Verify your email address',
  blocks: [
    { say: `Hello ${username},` },
    { say: `your account on ${instanceName} uses this email address. Please confirm that it is yours.` },
    { link: 'Verify the address', url },
    { say: `The link works once and expires in ${inWords(lifetimeMs)}. ${NOT_YOU}` },
  ],
})

export const verifyNewEmail = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: `Verify your new email address on ${instanceName}`,
  heading: 'Verify your new email address',
  blocks: [
    { say: `Hello ${username},` },
    {
      say: `you asked to use this email address for your account on ${instanceName}. The old address stays until you verify the new one.`,
    },
    { link: 'Verify the new address', url },
    { say: `The link works once and expires in ${inWords(lifetimeMs)}. ${NOT_YOU}` },
  ],
})

export const verifyRegistration = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: `Verify your email address to request an account on ${instanceName}`,
  heading: 'Verify your email address',
  blocks: [
    { say: `Hello ${username},` },
    { say: `you requested an account on ${instanceName} with this email address. Please confirm that it is yours.` },
    { link: 'Verify the address', url },
    { say: `The link expires in ${inWords(lifetimeMs)}. Afterwards a moderator decides on your request. ${NOT_YOU}` },
  ],
})

export const resetPassword = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: `Reset the password of your account on ${instanceName}`,
  heading: 'Reset your password',
  blocks: [
    { say: `Hello ${username},` },
    { say: `a new password was requested for your account ${username} on ${instanceName}.` },
    { link: 'Choose a new password', url },
    {
      say: `The link works once and expires in ${inWords(lifetimeMs)}. A new password logs you out everywhere. ${NOT_YOU}`,
    },
  ],
})

export const createPassword = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: `Your account on ${instanceName} was created: set your password`,
  heading: 'Your account was created',
  blocks: [
    { say: `Hello ${username},` },
    { say: `an administrator created an account for you on ${instanceName}. Your username is ${username}.` },
    { link: 'Set your password', url },
    { say: `The link works once and expires in ${inWords(lifetimeMs)}.` },
  ],
})

export const registrationAccepted = (mail: To & { response: string; url: string }): Letter => ({
  subject: `Your registration request for the account ${mail.username} was accepted`,
  heading: `Welcome to ${mail.instanceName}`,
  blocks: [
    { say: `Hello ${mail.username},` },
    { say: `your registration request was accepted, and your account on ${mail.instanceName} is ready.` },
    ...answer(mail.response),
    { link: 'Log in', url: mail.url },
  ],
})

export const registrationRejected = (mail: To & { response: string }): Letter => ({
  subject: `Your registration request for the account ${mail.username} was rejected`,
  heading: 'Your registration request was rejected',
  blocks: [
    { say: `Hello ${mail.username},` },
    { say: `your request for an account on ${mail.instanceName} was rejected.` },
    ...answer(mail.response),
  ],
})

/** Numbers of imported, existing and failed objects of the archive. */
export const importCompleted = (mail: To & { url: string; success: number; duplicates: number; errors: number }): Letter => ({
  subject: `Your archive was imported on ${mail.instanceName}`,
  heading: 'Your archive was imported',
  blocks: [
    { say: `Hello ${mail.username},` },
    { say: `the import of your archive into your account on ${mail.instanceName} is finished.` },
    {
      say: `Imported: ${mail.success}. Already present: ${mail.duplicates}. Failed: ${mail.errors}. New videos may still be transcoding.`,
    },
    { link: 'See your imports', url: mail.url },
  ],
})

export const importFailed = (mail: To & { url: string; reason: string }): Letter => ({
  subject: `The import of your archive on ${mail.instanceName} failed`,
  heading: 'The import of your archive failed',
  blocks: [
    { say: `Hello ${mail.username},` },
    { say: `your archive could not be imported into your account on ${mail.instanceName}. The reason:` },
    { quote: mail.reason },
    { say: 'What was imported before the failure stays. You can import the archive again: nothing is imported twice.' },
    { link: 'See your imports', url: mail.url },
  ],
})

export const userBlocked = (mail: To & { reason: string | null }): Letter => ({
  subject: `Your account ${mail.username} was blocked`,
  heading: 'Your account was blocked',
  blocks: [
    { say: `Hello ${mail.username},` },
    { say: `the moderators blocked your account on ${mail.instanceName}.` },
    ...answer(mail.reason ?? ''),
  ],
})

export const userUnblocked = (mail: To & { url: string }): Letter => ({
  subject: `Your account ${mail.username} was unblocked`,
  heading: 'Your account was unblocked',
  blocks: [
    { say: `Hello ${mail.username},` },
    { say: `your account on ${mail.instanceName} is no longer blocked.` },
    { link: 'Log in', url: mail.url },
  ],
})

export const exportReady = ({ username, instanceName, url }: To & { url: string }): Letter => ({
  subject: 'Your export archive has been created',
  heading: 'Your export archive is ready',
  blocks: [
    { say: `Hello ${username},` },
    {
      say: `the archive of your data on ${instanceName} is ready to download. It is deleted after a few days.`,
    },
    { link: 'Download the archive', url },
  ],
})

export const exportFailed = ({ username, instanceName, url }: To & { url: string }): Letter => ({
  subject: 'Your export archive could not be created',
  heading: 'Your export archive could not be created',
  blocks: [
    { say: `Hello ${username},` },
    {
      say: `the archive of your data on ${instanceName} could not be created. You can request it again.`,
    },
    { link: 'Request the archive', url },
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

/** The moderators' text, if any. */
const answer = (text: string): Block[] => (text === '' ? [] : [{ say: 'The moderators wrote:' }, { markdown: text }])

interface Link {
  url: string
  lifetimeMs: number
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** `7 days`, `90 minutes`: in the largest exact unit, otherwise in whole minutes, rounded down. */
export function inWords(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms >= length && ms % length === 0) ?? ['minute', 60_000]
  const count = Math.max(1, Math.floor(ms / size))
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
