// Mail: the server is reachable, greets, switches to TLS and accepts the configured login. Sends nothing unless requested.

import { accessSync, constants } from 'node:fs'
import { isMailEnabled } from '../../config/index.ts'
import { newUuid } from '../../platform/ids.ts'
import { MailRefused, makeMailer } from '../../platform/mailer.ts'
import { type Check, DATABASE_LIMIT, sentence } from './check.ts'

export const mailCheck: Check = {
  name: 'mail',
  limit: DATABASE_LIMIT,
  async run({ loaded: { publicUrl }, current, sendMailTo }, say) {
    const config = await current()
    const { smtp } = config
    if (!isMailEnabled(config)) {
      return say.warning(
        'No mail server is configured: passwords cannot be reset by mail, and addresses are not verified.',
        'Set smtp.hostname, or smtp.transport and smtp.sendmail.',
      )
    }
    const mailer = makeMailer({ settings: () => smtp })
    try {
      const where = smtp.transport === 'sendmail' ? (smtp.sendmail ?? '') : `${smtp.hostname}:${smtp.port}`
      if (smtp.transport === 'sendmail') {
        accessSync(where, constants.X_OK)
        say.ok(`${where} can be run.`)
      } else {
        await mailer.verify()
        say.ok(smtp.username === null ? `${where} answers.` : `${where} answers and takes the login.`)
      }
      if (sendMailTo === undefined) return
      await mailer.send({
        id: newUuid(),
        host: new URL(publicUrl).hostname,
        to: sendMailTo,
        fromName: config.instance.name,
        subject: `Mail of ${new URL(publicUrl).host} arrives`,
        text: `${publicUrl} sent this mail because its operator tested whether mails arrive.\n`,
        html: `<p>${publicUrl} sent this mail because its operator tested whether mails arrive.</p>`,
      })
      say.ok(`A mail to ${sendMailTo} was sent.`)
    } catch (error) {
      const isLogin = error instanceof MailRefused && error.message.includes('EAUTH')
      say.problem(
        sentence(error),
        isLogin ? 'Set smtp.username and smtp.password right.' : 'Check the section smtp, and whether it can be reached from here.',
      )
    }
  },
}
