// The mailer on each transport: SMTP with and without TLS and login, and the sendmail command.

import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { type MailerSettings, MailRefused, makeMailer } from '../../../src/platform/mailer.ts'
import { type MailServer, mailFixture, readMail, startMailServer } from '../../support/mail-server.ts'

const mail = {
  id: 'mail-1',
  host: 'videos.example',
  to: 'you@example.com',
  fromName: 'Ünïcode "Videos" <x@evil.example>\r\nBcc: victim@example.com',
  subject: 'Grüße',
  text: `A very long line: ${'0123456789abcdef'.repeat(40)}\n`,
  html: '<p>Grüße</p>',
}

let server: MailServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

async function start(options: Parameters<typeof startMailServer>[0] = {}, more: Partial<MailerSettings> = {}) {
  server = await startMailServer(options)
  const settings: MailerSettings = {
    transport: 'smtp',
    sendmail: null,
    hostname: '127.0.0.1',
    port: server.port,
    username: null,
    password: null,
    tls: false,
    disable_starttls: false,
    ca_file: null,
    from_address: 'noreply@example.org',
    ...more,
  }
  return { server, mailer: makeMailer({ settings: () => settings }) }
}

describe('SMTP', () => {
  it('sends both bodies complete, and headers without injection', async () => {
    const { server, mailer } = await start()
    await mailer.send(mail)
    const [got] = server.mails
    expect(got).toMatchObject({ to: ['you@example.com'], from: 'noreply@example.org', subject: 'Grüße' })
    expect(got?.text.trimEnd()).toBe(mail.text.trimEnd())
    expect(got?.html).toContain('<p>Grüße</p>')
    expect(got?.headers).toMatchObject({
      'message-id': '<mail-1@videos.example>',
      'auto-submitted': 'auto-generated',
      'mime-version': '1.0',
    })
    expect(got?.headers).not.toHaveProperty('bcc')
    expect(got?.headers.from?.endsWith('<noreply@example.org>')).toBe(true)
  })

  it('sends List-Unsubscribe and thread headers', async () => {
    const { server, mailer } = await start()
    const unsubscribe = `https://videos.example/unsubscribe/${'0123456789abcdef'.repeat(16)}`
    await mailer.send({ ...mail, unsubscribe, thread: 'report-1' })
    expect(server.mails[0]?.headers).toMatchObject({
      'list-unsubscribe': `<${unsubscribe}>`,
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
      'in-reply-to': '<report-1@videos.example>',
      references: '<report-1@videos.example>',
    })
  })

  it('distinguishes an outage from a refusal', async () => {
    const { server, mailer } = await start()
    const refused = async () => mailer.send(mail).catch((thrown: unknown) => thrown)
    server.refuseWith = 451
    expect(await refused()).toMatchObject({ permanent: false, outage: false })
    server.refuseWith = 421
    expect(await refused()).toMatchObject({ permanent: false, outage: true })
    const { mailer: alone } = await start({}, { port: 1 })
    expect(await alone.send(mail).catch((thrown: unknown) => thrown)).toMatchObject({ permanent: false, outage: true })
    await server.close()
  })

  it('sends to several recipients who do not see each other', async () => {
    const { server, mailer } = await start()
    await mailer.send({ ...mail, fromName: 'Videos', to: ['a@example.com', 'b@example.com'] })
    expect(server.mails.map(({ to }) => to)).toEqual([['a@example.com', 'b@example.com']])
    expect(server.mails[0]?.raw).not.toContain('a@example.com')
    expect(server.mails[0]?.headers.to).toBe('Videos <noreply@example.org>')
  })

  it('logs in', async () => {
    const user = { username: 'vireo', password: 'sesame' }
    const { server, mailer } = await start({ user }, user)
    await mailer.send(mail)
    expect(server.mails).toHaveLength(1)
  })

  it.each(['at-once', 'starttls'] as const)('uses TLS (%s) with a server of a trusted authority', async (tls) => {
    const { server, mailer } = await start({ tls }, { tls: tls === 'at-once', ca_file: mailFixture('certificate.pem') })
    await mailer.send(mail)
    expect([server.mails.length, server.secured]).toEqual([1, 1])
  })

  it.each(['at-once', 'starttls'] as const)('sends nothing to a server of an unknown authority (%s)', async (tls) => {
    const { server, mailer } = await start({ tls }, { tls: tls === 'at-once' })
    await expect(mailer.send(mail)).rejects.toBeInstanceOf(MailRefused)
    expect(server.mails).toEqual([])
  })

  it('stays unencrypted when the upgrade is disabled', async () => {
    const { server, mailer } = await start({ tls: 'starttls' }, { disable_starttls: true })
    await mailer.send(mail)
    expect([server.mails.length, server.secured]).toEqual([1, 0])
  })

  it.each([
    [451, { permanent: false, temporary: true }],
    [550, { permanent: true, temporary: false }],
  ])('classifies a refusal with %i by its code alone (%j)', async (refuseWith, kind) => {
    const { server, mailer } = await start()
    server.refuseWith = refuseWith
    const error: unknown = await mailer.send(mail).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'MailRefused', ...kind })
    expect(String(error)).toContain(String(refuseWith))
    expect(String(error)).not.toMatch(/you@example|secret reasons/)
  })
})

it('the sendmail command gets the recipient and the whole mail', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vireo-sendmail-'))
  try {
    const command = join(folder, 'sendmail')
    await writeFile(command, `#!/bin/sh\necho "$@" > ${folder}/arguments\ncat > ${folder}/mail\n`)
    await chmod(command, 0o755)
    const { mailer } = await start({}, { transport: 'sendmail', sendmail: command, hostname: null })
    await mailer.send(mail)
    expect(await readFile(join(folder, 'arguments'), 'utf8')).toMatch(/-f noreply@example\.org you@example\.com/)
    const got = readMail(await readFile(join(folder, 'mail'), 'utf8'))
    expect(got).toMatchObject({ subject: 'Grüße' })
    expect(got.text.trimEnd()).toBe(mail.text.trimEnd())

    await writeFile(command, '#!/bin/sh\ncat > /dev/null\nexit 75\n')
    await expect(mailer.send(mail)).rejects.toBeInstanceOf(MailRefused)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
