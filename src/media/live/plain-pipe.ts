// A pair of connected local sockets: one end stays in this process, the other can be sent to another one.

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** `there` is not read yet. */
export async function makePlainPipe() {
  // Only this user can enter the folder.
  const folder = await mkdtemp(join(tmpdir(), 'vireo-live-'))
  const server = createServer({ pauseOnConnect: true })
  try {
    server.listen(join(folder, 's'))
    await once(server, 'listening')
    const here = connect(join(folder, 's'))
    const [[there]] = await Promise.all([once(server, 'connection'), once(here, 'connect')])
    if (!(there instanceof Socket)) throw new Error('A local socket gave no connection.')
    return { here, there }
  } finally {
    server.close()
    await rm(folder, { recursive: true, force: true })
  }
}
