// The processes of all server plugins of this server: each runs in one of the server's processes, by a lease on its row. The others reach it
// there. A process that ends is started again with back-off; one that fails again and again is switched off.

import { join } from 'node:path'
import { z } from 'zod'
import type { GuardedFetch } from '../../../platform/fetch/index.ts'
import { type ActorDeps, isDeadHere, leaseOwner } from '../../runtime/index.ts'
import type { ActivePlugins } from '../active-plugins.ts'
import { readDeclared } from '../declared.ts'
import { shortName } from '../manifest.ts'
import type { Plugins } from '../plugin.commands.ts'
import type { PluginRow } from '../plugin.queries.ts'
import { type Breaker, makeBreaker } from './breaker.ts'
import { ChannelError } from './channel.ts'
import type { About } from './child/api.ts'
import { type Host, startHost } from './host.ts'
import { type Peers, startPeers } from './peers.ts'

/** Answers what a plugin asks of the server. Throws an Error that the plugin gets. */
export type AnswerPlugin = (plugin: PluginRow, name: string, args: unknown) => Promise<unknown>

type Deliver = (npmName: string, args: unknown) => void

interface Running {
  plugin: PluginRow
  /** The addresses of the processes that have its WebSockets, by their ids: a plugin may send nothing elsewhere. */
  sockets: Map<string, string>
  /** Settles when what it sent to WebSockets of other processes is there. */
  sending: Promise<unknown>
  /** Settles when its process runs, or could not be started. */
  starting: Promise<void>
  /** Ends a start. */
  ending: AbortController
  /** Undefined while it starts, and until it is started again. */
  host: Host | undefined
  startAt: number
  breaker: Breaker
}

const LOOK_EVERY_MS = 1_000
const LEASE_MS = 10_000
const SETTINGS_MS = 10_000
const UNREGISTER_MS = 2_000
const SOCKET_MS = 10_000
/** A fault of the caller's making: the name of the call in which others report it. */
const BLAME = 'blame'
/** The name of the call with what a plugin sends to a WebSocket. */
const SOCKET = 'socket'
/** Calls that hold up answers of the server. */
const BLAMED: ReadonlySet<string> = new Set(['filter', 'validity'])
const ofSocket = z.object({ id: z.string() })

export type PluginHosts = ReturnType<typeof makePluginHosts>

export function makePluginHosts(
  deps: ActorDeps & {
    active: ActivePlugins
    plugins: Pick<Plugins, 'declare' | 'fail' | 'settings'>
    answer: AnswerPlugin
    ownFetch: Pick<GuardedFetch, 'fetch'>
    labels: About['labels']
  },
) {
  const { db, config, logger, secrets, urls, active, plugins, answer, ownFetch, labels } = deps
  const owner = leaseOwner()
  const running = new Map<number, Running>()
  /** Those that end; their leases are still those of this process. */
  const endings = new Map<number, Promise<void>>()
  let peers: Peers | undefined
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()
  let isStopping = false
  let unsubscribe = () => {}
  let deliver: Deliver = () => {}

  async function look(): Promise<void> {
    const wanted = new Map((await active.recent()).filter(({ manifest }) => manifest.library !== undefined).map((row) => [row.id, row]))
    for (const [id, one] of running) {
      const now = wanted.get(id)
      if (now?.integrity !== one.plugin.integrity || !(await hasLease(now))) end(id, one)
    }
    for (const plugin of wanted.values()) {
      const one = running.get(plugin.id)
      // Nobody waits for a start or an end: meanwhile the leases of the others would run out.
      if (one && !one.host && Date.now() >= one.startAt) one.starting = run(one)
      if (!one && !endings.has(plugin.id) && (await hasLease(plugin))) {
        const done = Promise.resolve()
        const made: Running = {
          plugin,
          sockets: new Map(),
          sending: done,
          starting: done,
          ending: new AbortController(),
          host: undefined,
          startAt: 0,
          breaker: makeBreaker(),
        }
        running.set(plugin.id, made)
        made.starting = run(made)
      }
    }
  }

  /** Takes the lease of a plugin, or renews it. A process that died on this machine has none any more. */
  async function hasLease({ id, host_owner }: PluginRow): Promise<boolean> {
    const dead = host_owner !== null && isDeadHere(host_owner) ? host_owner : ''
    const now = Date.now()
    const rows = await db.query(
      `update plugin set host_owner = $2, host_until = $3, host_address = $4 where id = $1 and state = 'enabled'
         and (host_owner is null or host_owner in ($2, $5) or host_until < $6) returning id`,
      [id, owner, new Date(now + LEASE_MS), peers?.address ?? null, dead, new Date(now)],
    )
    return rows.length > 0
  }

  function end(id: number, one: Running): void {
    running.delete(id)
    const ending = close(id, one)
      .catch((error) => logger.warn({ err: error, plugin: one.plugin.npm_name }, 'the lease of a plugin could not be given back'))
      .finally(() => endings.delete(id))
    endings.set(id, ending)
  }

  async function close(id: number, one: Running): Promise<void> {
    one.ending.abort()
    await one.starting
    await one.host?.call('unregister', {}, UNREGISTER_MS).catch(() => null)
    await one.host?.stop()
    await db.query('update plugin set host_owner = null, host_until = null, host_address = null where id = $1 and host_owner = $2', [
      id,
      owner,
    ])
  }

  async function run(one: Running): Promise<void> {
    const { plugin } = one
    const { npm_name: npmName, version, manifest } = plugin
    one.startAt = Number.POSITIVE_INFINITY
    try {
      const host = await startHost({
        folder: await active.folderOf(plugin),
        library: manifest.library ?? '',
        about: { npmName, name: shortName(npmName), version, origin: urls.origin, labels },
        memory: config().vireo.plugins.memory,
        pidFile: join(config().storage.plugins, 'processes', npmName),
        signal: one.ending.signal,
        answer: (name, args) => (name === SOCKET ? sendToSocket(one, args) : answer(plugin, name, args)),
        logger,
      })
      one.host = host
      void host.ended.then((reason) => ended(one, host, reason))
      await plugins.declare(npmName, readDeclared(host.declared))
      logger.info({ plugin: npmName, version, pid: host.pid }, 'a plugin runs')
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      // Its end reports itself.
      if (one.host) await one.host.stop()
      else await ended(one, undefined, reason)
    }
  }

  async function ended(one: Running, host: Host | undefined, reason: string): Promise<void> {
    if (one.host === host) one.host = undefined
    one.sockets.clear()
    if (isStopping || running.get(one.plugin.id) !== one) return
    const startAt = one.breaker.ended(Date.now())
    logger.warn({ plugin: one.plugin.npm_name, reason, again: startAt !== undefined }, 'the process of a plugin has ended')
    if (startAt === undefined) await switchOff(one, reason)
    else one.startAt = startAt
  }

  async function switchOff({ plugin }: Running, reason: string): Promise<void> {
    await plugins
      .fail(plugin.npm_name, reason)
      .catch((error) => logger.error({ err: error, plugin: plugin.npm_name }, 'a failing plugin could not be switched off'))
  }

  /** A call to the process here. */
  async function callHere(one: Running, name: string, args: unknown, withinMs: number): Promise<unknown> {
    if (name === BLAME) return await blameHere(one)
    if (!one.host) throw new ChannelError('closed')
    if (name === 'socketOpen') noteSocket(one, args)
    if (name === 'socketClosed') one.sockets.delete(ofSocket.parse(args).id)
    try {
      return await one.host.call(name, args, withinMs)
    } catch (error) {
      // Others end with an answer of their own, such as 502: strangers can cause them, as they can cause too many calls.
      if (BLAMED.has(name) && error instanceof ChannelError && error.reason !== 'full') await blameHere(one)
      throw error
    }
  }

  function noteSocket({ sockets }: Running, args: unknown): void {
    const { id, at } = ofSocket.extend({ at: z.string() }).parse(args)
    sockets.set(id, at)
  }

  /** In the order in which it was sent. */
  async function sendToSocket(one: Running, args: unknown): Promise<void> {
    const { npm_name: npmName } = one.plugin
    const at = one.sockets.get(ofSocket.parse(args).id)
    if (!peers || at === undefined) throw new ChannelError('closed')
    if (at === peers.address) return deliver(npmName, args)
    const { ask } = peers
    const sending = one.sending.then(() => ask(at, { npmName, name: SOCKET, args, withinMs: SOCKET_MS }))
    one.sending = sending.catch(() => undefined)
    await sending
  }

  async function blameHere(one: Running): Promise<null> {
    if (one.host && one.breaker.failed(Date.now())) await switchOff(one, 'Its answers were late or wrong again and again.')
    return null
  }

  /** Asks the process of a plugin, wherever it runs. Throws ChannelError; `closed` while there is none. */
  async function call(plugin: PluginRow, name: string, args: unknown, withinMs: number): Promise<unknown> {
    const here = running.get(plugin.id)
    if (here) return await callHere(here, name, args, withinMs)
    if (!peers || plugin.host_address === null) throw new ChannelError('closed')
    return await peers.ask(plugin.host_address, { npmName: plugin.npm_name, name, args, withinMs })
  }

  async function passSettings(npmName: string): Promise<void> {
    const one = [...running.values()].find(({ plugin }) => plugin.npm_name === npmName)
    await one?.host?.call('settings', { settings: await plugins.settings(npmName) }, SETTINGS_MS)
  }

  const lookNow = (): Promise<void> => {
    looking = looking.then(look).catch((error) => logger.warn({ err: error }, 'the processes of plugins could not be looked after'))
    return looking
  }

  return {
    call,
    /** Reports an answer that cannot be used. */
    async blame(plugin: PluginRow): Promise<void> {
      await call(plugin, BLAME, null, LOOK_EVERY_MS).catch(() => null)
    },

    /** Of this process, for what a plugin sends to its WebSockets. */
    address(): string {
      return peers?.address ?? ''
    },
    /** Sets who passes on what plugins send to the WebSockets of this process; it throws if there is no such socket. */
    onSocket(listener: Deliver): void {
      deliver = listener
    },

    /** Begins to run plugins in this process. */
    async start(): Promise<void> {
      if (!config().plugins.enabled) return
      peers = await startPeers({
        hostname: config().vireo.plugins.hostname,
        secrets,
        http: ownFetch,
        async answer({ npmName, name, args, withinMs }) {
          if (name === SOCKET) return deliver(npmName, args)
          const one = [...running.values()].find(({ plugin }) => plugin.npm_name === npmName)
          if (!one) throw new ChannelError('closed')
          return await callHere(one, name, args, withinMs)
        },
      })
      unsubscribe = active.onChange((npmName, what) => {
        if (what === 'plugin') void lookNow()
        else passSettings(npmName).catch((error) => logger.warn({ err: error, plugin: npmName }, 'a plugin did not get its settings'))
      })
      const again = async (): Promise<void> => {
        await lookNow()
        if (!isStopping) timer = setTimeout(again, LOOK_EVERY_MS)
      }
      void again()
    },

    async stop(): Promise<void> {
      isStopping = true
      clearTimeout(timer)
      unsubscribe()
      await looking
      for (const [id, one] of running) end(id, one)
      await Promise.all(endings.values())
      await peers?.close()
    },
  }
}
