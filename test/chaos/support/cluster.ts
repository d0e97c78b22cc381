// Several processes of one server, each with its own roles, behind a round-robin proxy for those with the role `web`.

import { setTimeout as moment } from 'node:timers/promises'
import { type Client, login } from '../../../scripts/demo/client.ts'
import type { Role } from '../../../src/runtime-settings.ts'
import { freePort } from '../../support/ports.ts'
import { type RoundRobin, startRoundRobin } from '../../support/round-robin.ts'
import { type Child, dataFolder, type LaunchOptions, PASSWORD, type Place, start, USERNAME } from './child.ts'

export interface Member {
  name: string
  roles: readonly Role[]
  /** Its own address, past the proxy. */
  base: string
  /** The running process; undefined before its start. */
  child: Child | undefined
  start(): Promise<void>
  /** SIGKILL to the whole process group; resolves when it is gone. */
  kill(): Promise<void>
}

export interface Cluster {
  /** The public address. */
  base: string
  place: { dataDir: string; databaseUrl: string }
  members: Member[]
  /** The member with this name. */
  member(name: string): Member
  /** Output of all members, including killed ones. */
  readonly said: string[]
  /** A client of root through the proxy; it retries requests that a killed process did not answer. */
  login(): Promise<Client>
  close(): Promise<void>
}

/** Starts the proxy, but no member. */
export async function makeCluster(options: {
  databaseUrl: string
  redisUrl?: string
  /** By name. */
  roles: Record<string, readonly Role[]>
  env?: Record<string, string>
}): Promise<Cluster> {
  const { databaseUrl, redisUrl, env = {} } = options
  const folder = dataFolder()
  const children: Child[] = []
  const members: Member[] = []
  const proxy: RoundRobin = await startRoundRobin({
    targets: () => members.filter(({ roles }) => roles.includes('web')).map(({ base }) => base),
  })
  for (const [name, roles] of Object.entries(options.roles)) {
    const launch: LaunchOptions = {
      dataDir: folder.path,
      port: await freePort(),
      roles,
      env: {
        DATABASE_URL: databaseUrl,
        ...(redisUrl ? { REDIS_URL: redisUrl } : {}),
        VIREO__WEBSERVER__PORT: String(proxy.port),
        VIREO__DATABASE__POOL__MAX: '8',
        ...env,
      },
    }
    const member: Member = {
      name,
      roles,
      base: `http://127.0.0.1:${launch.port}`,
      child: undefined,
      async start() {
        member.child = await start(launch)
        children.push(member.child)
      },
      async kill() {
        member.child?.signal('SIGKILL', 'group')
        await member.child?.ended
      },
    }
    members.push(member)
  }
  const place: Exclude<Place, string> = { dataDir: folder.path, databaseUrl }
  return {
    base: proxy.url,
    place,
    members,
    get said() {
      return children.flatMap((child) => child.said)
    },
    member(name) {
      const found = members.find((one) => one.name === name)
      if (!found) throw new Error(`There is no member ${name}.`)
      return found
    },
    async login() {
      const client = await login(proxy.url, USERNAME, PASSWORD)
      return { ...client, raw: (path, init) => again(() => client.raw(path, init)) }
    },
    async close() {
      for (const { child } of members) child?.signal('SIGKILL', 'group')
      await Promise.all(members.map(({ child }) => child?.ended))
      await proxy.close()
      await folder.remove()
    },
  }
}

const TRIES = 100
const BETWEEN_MS = 50
/** No process answered, or the one that did was killed. */
const AWAY = new Set([502, 503])

async function again(ask: () => Promise<Response>): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const answer = await ask().catch(() => undefined)
    if (answer && !AWAY.has(answer.status)) return answer
    if (tries === TRIES) throw new Error(`No answer: ${answer ? `${answer.status} ${await answer.text()}` : 'lost'}`)
    await moment(BETWEEN_MS)
  }
}
