// Links in mails.

import { defineEntity, p } from '@mikro-orm/postgresql'

export const MailLink = defineEntity({
  name: 'MailLink',
  tableName: 'mail_link',
  properties: {
    purpose: p.text().primary(),
    subjectId: p.integer().primary(),
    mail: p.bigint('number'),
    createdAt: p.datetime(3),
  },
})
