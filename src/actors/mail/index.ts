export { askForMail, type Mail } from './ask-for-mail.ts'
export { sendsMail } from './sends-mail.ts'
