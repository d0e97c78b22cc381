// An LDAP server on loopback with bind, search and StartTLS only (RFC 4511). It parses and writes messages with the client library.

import { createServer, type Server, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { BerReader, BerWriter, BindRequest, PresenceFilter, SearchRequest } from 'ldapts'

export interface LdapEntry {
  password: string
  attributes: Record<string, string | string[]>
}

export interface LdapServer {
  url: string
  /** By distinguished name. */
  entries: Map<string, LdapEntry>
  /** Filters of searches, and distinguished names of binds. */
  searches: string[]
  binds: string[]
  /** True to accept connections without answering. */
  isSilent: boolean
  down(): Promise<void>
  up(): Promise<void>
}

const [BIND, UNBIND, SEARCH, EXTENDED] = [0x60, 0x42, 0x63, 0x77]
const [BOUND, FOUND, SEARCHED, EXTENDED_DONE] = [0x61, 0x64, 0x65, 0x78]
const [SUCCESS, PROTOCOL_ERROR, INVALID_CREDENTIALS, INSUFFICIENT_RIGHTS] = [0, 2, 49, 50]

/** `service`: the account that may search; `tls`: certificate for StartTLS, which is refused without one. */
export async function startLdapServer(options: {
  port: number
  service: { dn: string; password: string }
  tls?: { key: Buffer; cert: Buffer }
}): Promise<LdapServer> {
  const { port, service, tls } = options
  const sockets = new Set<Socket>()
  let listener: Server | undefined

  const directory: LdapServer = {
    url: `ldap://127.0.0.1:${port}`,
    entries: new Map(),
    searches: [],
    binds: [],
    isSilent: false,
    async down() {
      const stopping = listener
      listener = undefined
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => (stopping ? stopping.close(resolve) : resolve(undefined)))
    },
    async up() {
      const starting = createServer(serve)
      listener = starting
      await new Promise<void>((resolve) => starting.listen(port, '127.0.0.1', resolve))
    },
  }

  function serve(socket: Socket): void {
    sockets.add(socket)
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
    let waiting: Buffer = Buffer.alloc(0)
    let bound = ''
    socket.on('data', (chunk: Buffer) => {
      waiting = Buffer.concat([waiting, chunk])
      if (directory.isSilent) return
      for (;;) {
        const reader = new BerReader(waiting)
        if (reader.readSequence() === null || reader.remain < reader.length) return
        waiting = waiting.subarray(reader.offset + reader.length)
        bound = handle(socket, reader, bound)
      }
    })
  }

  /** Returns the distinguished name that is bound afterwards. */
  function handle(socket: Socket, reader: BerReader, bound: string): string {
    const id = reader.readInt() ?? 0
    const tag = reader.readSequence()
    if (tag === UNBIND) socket.end()
    if (tag === EXTENDED) {
      socket.write(result(id, EXTENDED_DONE, tls ? SUCCESS : PROTOCOL_ERROR))
      if (tls) serve(new TLSSocket(socket.removeAllListeners('data'), { isServer: true, ...tls }))
    }
    if (tag === BIND) {
      const request = new BindRequest({ messageId: id })
      request.parseMessage(reader)
      const { dn, password } = request
      directory.binds.push(dn)
      const known = dn === service.dn ? service.password : directory.entries.get(dn)?.password
      // A bind without a password succeeds as an anonymous bind, which clients must not mistake for a login.
      const isRight = password === '' || known === password
      socket.write(result(id, BOUND, isRight ? SUCCESS : INVALID_CREDENTIALS))
      return isRight && password !== '' ? dn : ''
    }
    if (tag === SEARCH) {
      const request = new SearchRequest({ messageId: id, filter: new PresenceFilter() })
      request.parseMessage(reader)
      directory.searches.push(request.filter.toString())
      for (const [dn, { attributes }] of directory.entries) {
        if (bound !== service.dn || !dn.endsWith(request.baseDN)) continue
        const texts = Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, [value].flat()[0] ?? '']))
        if (request.filter.matches(texts)) socket.write(entryOf(id, dn, attributes))
      }
      socket.write(result(id, SEARCHED, bound === service.dn ? SUCCESS : INSUFFICIENT_RIGHTS))
    }
    return bound
  }

  await directory.up()
  return directory
}

function message(id: number, tag: number, write: (writer: BerWriter) => void): Buffer {
  const writer = new BerWriter()
  writer.startSequence()
  writer.writeInt(id)
  writer.startSequence(tag)
  write(writer)
  writer.endSequence()
  writer.endSequence()
  return writer.buffer
}

const result = (id: number, tag: number, code: number): Buffer =>
  message(id, tag, (writer) => {
    writer.writeEnumeration(code)
    writer.writeString('')
    writer.writeString('')
  })

const SET = 0x31

const entryOf = (id: number, dn: string, attributes: LdapEntry['attributes']): Buffer =>
  message(id, FOUND, (writer) => {
    writer.writeString(dn)
    writer.startSequence()
    for (const [name, values] of Object.entries(attributes)) {
      writer.startSequence()
      writer.writeString(name)
      writer.startSequence(SET)
      for (const value of [values].flat()) writer.writeString(value)
      writer.endSequence()
      writer.endSequence()
    }
    writer.endSequence()
  })
