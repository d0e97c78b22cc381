export { askForMail, type Mail } from './ask-for-mail.ts'
