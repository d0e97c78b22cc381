export { type Contact, type ContactMessage, makeContact } from './contact.commands.ts'
