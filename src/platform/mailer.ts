// Sends mails by SMTP or with the sendmail command (nodemailer), independent of their content.

import { readFileSync } from 'node:fs'
import type { Transporter } from 'nodemailer'

export interface MailerSettings {
  transport: 'smtp' | 'sendmail'
  /** Path of the command. */
  sendmail: string | null
  hostname: string | null
  port: number
  username: string | null
  password: string | null
  /** TLS from the first byte; otherwise STARTTLS if the server offers it. */
  tls: boolean
  disable_starttls: boolean
  /** Certificate authority of the mail server, PEM. */
  ca_file: string | null
  from_address: string
}

export interface OutgoingMail {
  /** The same for each attempt, so that mail programs show a mail that was sent twice only once. */
  id: string
  /** The name of this server. Others may send from the same address, and must not share ids. */
  host: string
  /** One address, or several that do not see each other. */
  to: string | readonly string[]
  fromName: string
  /** Reply address, if it differs from the sender's. */
  replyTo?: string
  subject: string
  text: string
  html: string
  /** Unsubscribe address, used by one POST (RFC 2369, RFC 8058). */
  unsubscribe?: string
  /** Mails of one thread are shown together, as replies to a mail that was never sent. */
  thread?: string
}

export type Mailer = ReturnType<typeof makeMailer>

/** Contains only the code of the mail server: its messages quote addresses. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused'
  /** True if a retry cannot help: the server does not know the recipient (RFC 5321, 4.2.1). */
  readonly permanent: boolean
  /** True if the mail server was unreachable or unusable, so that the mail is not at fault. */
  readonly outage: boolean
  /** True if the server wants a later retry, as in grey-listing (RFC 5321, 4.2.1; RFC 6647). */
  readonly temporary: boolean

  constructor(message: string, kind: { permanent: boolean; outage: boolean; temporary: boolean }) {
    super(message)
    this.permanent = kind.permanent
    this.outage = kind.outage
    this.temporary = kind.temporary
  }
}

/** For the connection, the greeting, and between two lines of the server. */
const TIMEOUTS_MS = { connectionTimeout: 15_000, greetingTimeout: 15_000, socketTimeout: 60_000 }

export function makeMailer({ settings }: { settings: () => MailerSettings }) {
  let connected: { settings: MailerSettings; transport: MailTransport } | undefined
  /** Of the present settings, which may change. */
  async function transportOf(now: MailerSettings): Promise<MailTransport> {
    if (connected?.settings !== now) connected = { settings: now, transport: await connect(now) }
    return connected.transport
  }
  return {
    /** Sends the mail. Throws `MailRefused`. */
    async send({ id, host, to, fromName, replyTo, subject, text, html, unsubscribe, thread }: OutgoingMail): Promise<void> {
      const now = settings()
      const { from_address: address } = now
      const transport = await transportOf(now)
      try {
        await transport.sendMail({
          messageId: `<${id}@${host}>`,
          ...(thread === undefined ? {} : { inReplyTo: `<${thread}@${host}>`, references: `<${thread}@${host}>` }),
          from: { name: fromName, address },
          // Several recipients get it as blind copies of a mail to the sender, who gets none.
          ...(typeof to === 'string'
            ? { to: { name: '', address: to } }
            : { to: { name: fromName, address }, envelope: { from: address, to: [...to] } }),
          ...(replyTo === undefined ? {} : { replyTo: { name: '', address: replyTo } }),
          subject,
          text,
          html,
          ...(unsubscribe === undefined ? {} : { list: { unsubscribe } }),
          headers: {
            // Suppresses automatic replies (RFC 3834).
            'Auto-Submitted': 'auto-generated',
            ...(unsubscribe === undefined ? {} : { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
          },
          disableFileAccess: true,
          disableUrlAccess: true,
        })
      } catch (error) {
        throw refusal(error)
      }
    },
    /** Connects, switches to TLS and logs in as configured, without sending. SMTP only. Throws `MailRefused`. */
    async verify() {
      const connection = await connect(settings())
      try {
        await connection.verify()
      } catch (error) {
        throw refusal(error, 'The mail server cannot be used')
      } finally {
        connection.close()
      }
    },
  }
}

type MailTransport = Pick<Transporter, 'sendMail' | 'verify' | 'close'>

/** Nodemailer is loaded with the first mail: many servers send none. */
async function connect(settings: MailerSettings): Promise<MailTransport> {
  const { createTransport } = await import('nodemailer')
  if (settings.transport === 'sendmail') {
    return createTransport({ sendmail: true, newline: 'unix', path: settings.sendmail ?? '' })
  }
  const { hostname, port, username, password, tls, disable_starttls, ca_file } = settings
  return createTransport({
    host: hostname ?? '',
    port,
    secure: tls,
    ignoreTLS: disable_starttls,
    ...(username !== null && password !== null ? { auth: { user: username, pass: password } } : {}),
    ...(ca_file === null ? {} : { tls: { ca: [readFileSync(ca_file)] } }),
    ...TIMEOUTS_MS,
  })
}

function refusal(error: unknown, what = 'The mail could not be sent'): MailRefused {
  const { code, responseCode, command } = detailsOf(error)
  const said = [code, responseCode, command].filter((part) => part !== undefined).join(' ')
  const permanent = responseCode !== undefined && responseCode >= 500 && command === 'RCPT TO'
  // 421: the server is shutting down, whatever the command was (RFC 5321, 3.8).
  const outage = responseCode === 421 || (code !== undefined && UNREACHABLE.has(code))
  const temporary = responseCode !== undefined && responseCode >= 400 && responseCode < 500
  return new MailRefused(`${what}: ${said || 'no reason was given'}.`, { permanent, outage, temporary })
}

const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNECTION',
  'ECONNREFUSED',
  'ETIMEDOUT',
  'ESOCKET',
  'EDNS',
  'EPIPE',
  'EPROXY',
  // The operator has to fix these: mails wait until then.
  ...['ETLS', 'EREQUIRETLS', 'EAUTH', 'ENOAUTH'],
])

function detailsOf(error: unknown): { code?: string; responseCode?: number; command?: string } {
  if (typeof error !== 'object' || error === null) return {}
  return {
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    ...('responseCode' in error && typeof error.responseCode === 'number' ? { responseCode: error.responseCode } : {}),
    ...('command' in error && typeof error.command === 'string' ? { command: error.command } : {}),
  }
}
