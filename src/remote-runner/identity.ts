// The runner's token, which it gets once for a registration token and keeps: after a crash it is the same runner.

import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { sha256 } from '../platform/ids.ts'
import { isFinal, type Protocol } from './protocol.ts'

const stored = z.object({ runnerToken: z.string() })

export interface IdentityOptions {
  protocol: Protocol
  server: string
  /** A registration token, or the token of a runner. */
  token: string
  name: string
  folder: string
}

/** The token of this runner. Registers it at the first call for a registration token. Throws `Refused`. */
export async function runnerTokenFor({ protocol, server, token, name, folder }: IdentityOptions): Promise<string> {
  if (!token.startsWith('ptrrt-')) return token
  const file = join(folder, `runner-${sha256(`${server} ${name}`).toString('hex').slice(0, 16)}.json`)
  const known = await readFile(file, 'utf8').then(
    (text) => stored.parse(JSON.parse(text)).runnerToken,
    () => undefined,
  )
  if (known !== undefined && (await isKnown(protocol, known))) return known
  const runnerToken = await protocol.register(token, { name, description: 'vireo runner' })
  await mkdir(folder, { recursive: true })
  await writeFile(`${file}.part`, JSON.stringify({ runnerToken }), { mode: 0o600 })
  await rename(`${file}.part`, file)
  return runnerToken
}

async function isKnown(protocol: Protocol, runnerToken: string): Promise<boolean> {
  try {
    await protocol.request(runnerToken, [])
    return true
  } catch (error) {
    if (isFinal(error)) return false
    throw error
  }
}
