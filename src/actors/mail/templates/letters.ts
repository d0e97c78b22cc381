// What each mail says.

import type { Letter } from './layout.ts'
import { oneLine } from './words.ts'

interface To {
  username: string
  instanceName: string
}

const NOT_YOU = 'If this was not you, there is nothing to do: without the link nothing changes.'

/** `lifetimeMs`: how long the link can be used. */
export const verifyEmail = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: `Verify your e-mail address on ${instanceName}`,
  heading: 'Is this your address?',
  blocks: [
    { say: `Hello ${username},` },
    { say: `this address was given for your account on ${instanceName}. Please show that it is yours.` },
    { link: 'Verify the address', url },
    { say: `The link can be used once, for ${inWords(lifetimeMs)}. ${NOT_YOU}` },
  ],
})

export const verifyNewEmail = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: `Verify your new e-mail address on ${instanceName}`,
  heading: 'Is this your new address?',
  blocks: [
    { say: `Hello ${username},` },
    {
      say: `from now on your account on ${instanceName} is to have this address. Until you verify it, the old one stays.`,
    },
    { link: 'Verify the new address', url },
    { say: `The link can be used once, for ${inWords(lifetimeMs)}. ${NOT_YOU}` },
  ],
})

export const verifyRegistration = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: `Verify your e-mail address on ${instanceName}`,
  heading: 'Is this your address?',
  blocks: [
    { say: `Hello ${username},` },
    { say: `somebody asked for an account on ${instanceName} with this address. Please show that it is yours.` },
    { link: 'Verify the address', url },
    { say: `The link can be used for ${inWords(lifetimeMs)}. Afterwards a moderator decides on your request.` },
    { say: NOT_YOU },
  ],
})

export const resetPassword = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: `Choose a new password on ${instanceName}`,
  heading: 'A new password',
  blocks: [
    { say: `Hello ${username},` },
    { say: `somebody asked for a new password of your account ${username} on ${instanceName}.` },
    { link: 'Choose a new password', url },
    { say: `The link can be used once, for ${inWords(lifetimeMs)}. All your sessions end with it. ${NOT_YOU}` },
  ],
})

export const createPassword = ({ username, instanceName, url, lifetimeMs }: To & Link): Letter => ({
  subject: `Your account on ${instanceName}`,
  heading: 'Your account is ready',
  blocks: [
    { say: `Hello ${username},` },
    { say: `an account was made for you on ${instanceName}. Your name for the login is ${username}.` },
    { link: 'Choose your password', url },
    { say: `The link can be used once, for ${inWords(lifetimeMs)}.` },
  ],
})

export const registrationAccepted = (mail: To & { response: string; url: string }): Letter => ({
  subject: `Your request for the account ${mail.username} was accepted`,
  heading: `Welcome to ${mail.instanceName}`,
  blocks: [
    { say: `Hello ${mail.username},` },
    { say: 'your request was accepted and your account is ready. The moderators write:' },
    { quote: mail.response },
    { link: 'Log in', url: mail.url },
  ],
})

/** How many things of the archive came in, were here already, and could not be used. */
export const importCompleted = (
  mail: To & { url: string; success: number; duplicates: number; errors: number },
): Letter => ({
  subject: `The import of your archive on ${mail.instanceName} is done`,
  heading: 'Your archive was imported',
  blocks: [
    { say: `Hello ${mail.username},` },
    { say: `the import of your archive into your account on ${mail.instanceName} is done.` },
    {
      say: `Brought in: ${mail.success}. Here already: ${mail.duplicates}. Not usable: ${mail.errors}. New videos may still be transcoded.`,
    },
    { link: 'Look at your imports', url: mail.url },
  ],
})

export const importFailed = (mail: To & { url: string; reason: string }): Letter => ({
  subject: `The import of your archive on ${mail.instanceName} failed`,
  heading: 'Your archive could not be imported',
  blocks: [
    { say: `Hello ${mail.username},` },
    { say: `the import of your archive into your account on ${mail.instanceName} failed. The reason:` },
    { quote: mail.reason },
    { say: 'What was brought in before that stays. You may import an archive again: nothing comes in twice.' },
    { link: 'Look at your imports', url: mail.url },
  ],
})

export const registrationRejected = (mail: To & { response: string }): Letter => ({
  subject: `Your request for the account ${mail.username} was rejected`,
  heading: 'Your request was rejected',
  blocks: [
    { say: `Hello ${mail.username},` },
    { say: `your request for an account on ${mail.instanceName} was rejected. The moderators write:` },
    { quote: mail.response },
  ],
})

export const userBlocked = (mail: To & { reason: string | null }): Letter => ({
  subject: `Your account ${mail.username} was blocked`,
  heading: 'Your account was blocked',
  blocks: [
    { say: `Hello ${mail.username},` },
    {
      say: `your account on ${mail.instanceName} was blocked${mail.reason === null ? '.' : '. The moderators write:'}`,
    },
    ...(mail.reason === null ? [] : [{ quote: mail.reason }]),
  ],
})

export const userUnblocked = (mail: To & { url: string }): Letter => ({
  subject: `Your account ${mail.username} is open again`,
  heading: 'Your account is open again',
  blocks: [
    { say: `Hello ${mail.username},` },
    { say: `your account on ${mail.instanceName} is no longer blocked.` },
    { link: 'Log in', url: mail.url },
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
  heading: 'A message by the contact form',
  blocks: [
    {
      say: `${oneLine(mail.name ?? '') || 'Somebody'} (${mail.email}) wrote by the contact form of ${mail.instanceName}:`,
    },
    { quote: mail.body },
    { say: 'The address is as the sender gave it: nobody has verified it. An answer to this mail goes there.' },
  ],
})

interface Link {
  url: string
  lifetimeMs: number
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** `7 days`, `90 minutes`: in the largest unit that says it exactly, else in whole minutes, never more than it is. */
export function inWords(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms >= length && ms % length === 0) ?? ['minute', 60_000]
  const count = Math.max(1, Math.floor(ms / size))
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
