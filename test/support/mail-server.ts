// A mail server on loopback that records mails, and can refuse them.

import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { SMTPServer } from 'smtp-server'
import { until } from './until.ts'

export interface ReceivedMail {
  to: string[]
  from: string
  /** Unfolded, with lower-case names. */
  headers: Record<string, string>
  subject: string
  text: string
  html: string
  /** The raw message. */
  raw: string
}

export interface MailServer {
  port: number
  mails: ReceivedMail[]
  /** Delivery attempts, including refused ones. */
  tries: number
  /** Connections that were upgraded to TLS. */
  secured: number
  /** Answer to recipients: null accepts them, a number refuses with that code. */
  refuseWith: number | null
  /** Waits for the next mail to this address that no earlier call returned. */
  next(to: string): Promise<ReceivedMail>
  close(): Promise<void>
}

/** Certificate and key for tests only. */
export const mailFixture = (name: string): string => fileURLToPath(new URL(`../fixtures/mail/${name}`, import.meta.url))
const fixture = (name: string): string => readFileSync(mailFixture(name), 'utf8')

export async function startMailServer(
  options: {
    user?: { username: string; password: string }
    /** Uses TLS with the certificate of test/fixtures/mail: from the start, or by STARTTLS. */
    tls?: 'at-once' | 'starttls'
  } = {},
): Promise<MailServer> {
  const taken = new Set<ReceivedMail>()
  const { user, tls } = options
  const server = new SMTPServer({
    authOptional: user === undefined,
    allowInsecureAuth: true,
    secure: tls === 'at-once',
    ...(tls ? { key: fixture('key.pem'), cert: fixture('certificate.pem') } : {}),
    disabledCommands: [...(tls === 'starttls' ? [] : ['STARTTLS']), ...(user === undefined ? ['AUTH'] : [])],
    onSecure(_socket, _session, callback) {
      sink.secured += 1
      callback()
    },
    onAuth(auth, _session, callback) {
      const known = auth.username === user?.username && auth.password === user?.password
      callback(known ? null : new Error('unknown user'), { user: auth.username })
    },
    onRcptTo(_address, _session, callback) {
      sink.tries += 1
      if (sink.refuseWith === null) return callback()
      callback(Object.assign(new Error('not now, for secret reasons'), { responseCode: sink.refuseWith }))
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        sink.mails.push({
          ...readMail(Buffer.concat(chunks).toString('utf8')),
          to: rcptTo.map(({ address }) => address),
          from: mailFrom === false ? '' : mailFrom.address,
        })
        callback()
      })
    },
  })
  // Clients that do not trust the certificate hang up, and report it themselves.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const sink: MailServer = {
    port: (server.server.address() as AddressInfo).port,
    mails: [],
    tries: 0,
    secured: 0,
    refuseWith: null,
    async next(to) {
      const found = await until(() => sink.mails.find((mail) => mail.to.includes(to) && !taken.has(mail)), {
        what: `a mail to ${to}`,
      })
      taken.add(found)
      return found
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return sink
}

/** Configuration keys for this server. */
export const smtpConfig = ({ port }: MailServer) => ({
  hostname: '127.0.0.1',
  port,
  tls: false,
  disable_starttls: true,
})

/** Parses a message with the two bodies of the server's mails. */
export function readMail(raw: string): Pick<ReceivedMail, 'headers' | 'subject' | 'text' | 'html' | 'raw'> {
  const { headers, body } = split(raw)
  const boundary = /boundary="?([^";]+)"?/.exec(headers['content-type'] ?? '')?.[1]
  const parts = boundary === undefined ? [] : body.split(`--${boundary}`).map((part) => split(part.replace(/^\r?\n/, '')))
  const of = (type: string) => {
    const part = parts.find((one) => one.headers['content-type']?.startsWith(type))
    return part ? decoded(part.body, part.headers['content-transfer-encoding']) : ''
  }
  return {
    headers,
    subject: decodedWords(headers.subject ?? ''),
    text: of('text/plain'),
    html: of('text/html'),
    raw,
  }
}

function split(raw: string): { headers: Record<string, string>; body: string } {
  const end = /\r?\n\r?\n/.exec(raw)
  const head = raw.slice(0, end?.index ?? raw.length).replace(/\r?\n[ \t]+/g, ' ')
  const pairs = head.split(/\r?\n/).map((line) => [line.split(':')[0]?.toLowerCase(), line.replace(/^[^:]*: */, '')])
  return { headers: Object.fromEntries(pairs), body: end ? raw.slice(end.index + end[0].length) : '' }
}

function decoded(body: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8')
  return encoding === 'quoted-printable' ? quotedPrintable(body.replace(/=\r?\n/g, '')) : body
}

/** RFC 2047. */
const decodedWords = (text: string): string =>
  text
    .replace(/\?= =\?/g, '?==?')
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b' ? Buffer.from(word, 'base64').toString('utf8') : quotedPrintable(word.replaceAll('_', ' ')),
    )

const quotedPrintable = (text: string): string =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString('utf8')
