// Live streams: the ports answer, and the certificate of RTMPS fits the name and the key.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createConnection, isIP } from 'node:net'
import type { Config } from '../../config/index.ts'
import { type Check, type Say, sentence, USUAL_LIMIT } from './check.ts'
import { sayValidity } from './public-address.ts'

export const liveCheck: Check = {
  name: 'live',
  limit: USUAL_LIMIT,
  async run({ loaded }, say, signal) {
    const { live } = loaded.config
    if (!live.enabled) return say.ok('Live streams are disabled.')
    for (const kind of ['rtmp', 'rtmps'] as const) if (live[kind].enabled) await checkPort(kind, live[kind], say, signal)
    if (live.rtmps.enabled) {
      await checkCertificate(live.rtmps, live.rtmps.public_hostname ?? new URL(loaded.publicUrl).hostname, say)
    }
  },
}

async function checkPort(kind: string, { hostname, port }: Config['live']['rtmp'], say: Say, signal: AbortSignal): Promise<void> {
  const socket = createConnection({ host: hostname ?? 'localhost', port, signal })
  try {
    await once(socket, 'connect', { signal })
    say.ok(`Port ${port} takes connections for ${kind.toUpperCase()}.`)
  } catch (error) {
    say.problem(
      `Nothing listens on port ${port} for ${kind.toUpperCase()}: ${sentence(error)}`,
      'Run a process with the role live here, and see in its log whether another program has the port.',
    )
  } finally {
    socket.destroy()
  }
}

async function checkCertificate({ cert_file, key_file }: Config['live']['rtmps'], host: string, say: Say): Promise<void> {
  const certificate = new X509Certificate(await readFile(cert_file))
  if (!certificate.checkPrivateKey(createPrivateKey(await readFile(key_file)))) {
    return say.problem('The certificate of RTMPS belongs to another key.', 'Set live.rtmps.key_file and live.rtmps.cert_file to a pair.')
  }
  if (!(isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host))) {
    return say.problem(`The certificate of RTMPS is not for ${host}.`, 'Get one for this name, or set live.rtmps.public_hostname.')
  }
  sayValidity(say, certificate.validToDate, (day) => `The certificate of RTMPS is valid until ${day}.`)
}
