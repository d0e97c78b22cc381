// The runner's token, which it gets once for a registration token and keeps: after a crash it is the same runner.

import { lookup } from 'node:dns/promises'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { sha256 } from '../platform/ids.ts'
import { isFinal, isNameTaken, type Protocol } from './protocol.ts'

/** Without a token: the server was asked for one, and no answer has come. */
const stored = z.object({ server: z.string(), name: z.string(), runnerToken: z.string().optional() })
type Stored = z.infer<typeof stored>

export interface IdentityOptions {
  protocol: Protocol
  server: string
  /** A registration token, or the token of a runner. */
  token: string
  name: string
  folder: string
}

/** The token of this runner. Registers it at the first call for a registration token. Throws `Refused`, or an Error with a remedy. */
export async function runnerTokenFor({ protocol, server: given, token, name, folder }: IdentityOptions): Promise<string> {
  if (!token.startsWith('ptrrt-')) return token
  const server = originOf(given)
  const file = join(folder, `runner-${sha256(`${server} ${name}`).toString('hex').slice(0, 16)}.json`)
  const before = await readStored(file)
  if (before?.runnerToken !== undefined && (await isKnown(protocol, before.runnerToken))) return before.runnerToken
  await keep({ ...before, server, name })
  const runnerToken = await registered()
  await keep({ server, name, runnerToken })
  return runnerToken

  async function registered(): Promise<string> {
    try {
      return await protocol.register(token, { name, description: 'vireo runner' })
    } catch (error) {
      if (!isNameTaken(error)) throw error
      const known = await tokenOfOtherAddress()
      if (known !== undefined) return known
      const wasAsked = before !== undefined && before.runnerToken === undefined
      const why = wasAsked ? 'perhaps since the answer to an earlier registration was lost' : 'registered from another folder or machine'
      throw new Error(
        `${server} has a runner with the name "${name}" already, ${why}. Remove it there on the page /admin/runners, choose another --name, or give its own token (ptrt-…) with --token.`,
        { cause: error },
      )
    }
  }

  /** The token of the same runner, if the server was given as another address of the same machine before. */
  async function tokenOfOtherAddress(): Promise<string | undefined> {
    for (const entry of await readdir(folder)) {
      const other = /^runner-[0-9a-f]+\.json$/.test(entry) ? await readStored(join(folder, entry)) : undefined
      if (other?.name !== name || other.runnerToken === undefined || other.server === server) continue
      if ((await isSameMachine(other.server, server)) && (await isKnown(protocol, other.runnerToken))) return other.runnerToken
    }
    return undefined
  }

  async function keep(identity: Stored): Promise<void> {
    await mkdir(folder, { recursive: true })
    await writeFile(`${file}.part`, JSON.stringify(identity), { mode: 0o600 })
    await rename(`${file}.part`, file)
  }
}

function originOf(server: string): string {
  const url = URL.canParse(server) ? new URL(server) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') throw new Error(`"${server}" is no address such as https://example.org.`)
  return url.origin
}

const readStored = (file: string): Promise<Stored | undefined> =>
  readFile(file, 'utf8').then(
    (text) => stored.parse(JSON.parse(text)),
    () => undefined,
  )

/** Another machine must not see the token. */
async function isSameMachine(one: string, other: string): Promise<boolean> {
  const [of, to] = [new URL(one), new URL(other)]
  if (of.protocol !== to.protocol || of.port !== to.port) return false
  const [known, asked] = await Promise.all([of, to].map(addressesOf))
  return asked?.some((address) => known?.includes(address)) ?? false
}

const addressesOf = ({ hostname }: URL): Promise<string[]> =>
  lookup(hostname.replace(/^\[|\]$/g, ''), { all: true }).then(
    (found) => found.map(({ address }) => address),
    () => [],
  )

async function isKnown(protocol: Protocol, runnerToken: string): Promise<boolean> {
  try {
    await protocol.request(runnerToken, [])
    return true
  } catch (error) {
    if (isFinal(error)) return false
    throw error
  }
}
