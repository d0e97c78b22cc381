// Messages of the contact form.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const ContactMessage = defineEntity({
  name: 'ContactMessage',
  tableName: 'contact_message',
  properties: {
    id: p.integer().primary(),
    fromName: p.text().nullable(),
    fromEmail: p.text(),
    subject: p.text().nullable(),
    body: p.text(),
    createdAt: p.datetime(3),
  },
})

export const ContactSender = defineEntity({
  name: 'ContactSender',
  tableName: 'contact_sender',
  properties: {
    sender: p.text().primary(),
    sentAt: p.datetime(3),
  },
})
