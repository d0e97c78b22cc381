export { askForMail, type Mail, NOBODY } from './ask-for-mail.ts'
export { newAddressState, passwordState, registrationState, verifyEmailState } from './link-states.ts'
export { type CheckLink, type MailLinks, makeMailLinks } from './links.ts'
export { sendMails } from './send-mail.ts'
