// Calls of the server to plugins: filters of answers, requests to their routers, and logins.

import { z } from 'zod'
import type { Config } from '../../config/index.ts'
import { parseEarly } from '../../platform/first-fault.ts'
import type { Logger } from '../../platform/logger.ts'
import type { PluginLogins } from '../external-login/index.ts'
import { NotNow, notFound } from '../runtime/index.ts'
import type { ActivePlugins } from './active-plugins.ts'
import type { Declared } from './declared.ts'
import { ChannelError } from './host/channel.ts'
import type { PluginRequest as SentRequest } from './host/child/router.ts'
import type { PluginHosts } from './host/hosts.ts'
import type { PluginRow } from './plugin.queries.ts'

export type PluginRequest = Omit<SentRequest, 'body'> & { body: Buffer }

export interface PluginAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

export interface PluginCalls extends PluginLogins {
  /** True if an enabled plugin has a handler of the hook, as known to this process. */
  handles(hook: string): boolean
  /** Keys of a constant that plugins remove, as known to this process. */
  hidden(kind: keyof Declared['constants']): string[]
  /**
   * The value after all handlers. One that is late, fails, or returns what `isGood` refuses is passed over: the value goes on without it.
   */
  filter(hook: string, value: unknown, params: object, isGood: (value: unknown) => boolean): Promise<unknown>
  /** Asks the router of a plugin. Undefined if its process is away, late, or answers nonsense. Throws `not_found`. */
  route(find: { npmName: string; version?: string | undefined }, request: PluginRequest): Promise<PluginAnswer | undefined>
  /** The beginning of a login on pages of another system. Throws like `route`. */
  begin(find: { npmName: string; version: string; authName: string }, request: PluginRequest): Promise<PluginAnswer | undefined>
}

const ROUTE_MS = 10_000
const LOGIN_MS = 5_000

const answer = z.object({
  status: z.int().min(200).max(599),
  headers: z.record(
    z.string().regex(/^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/),
    z
      .string()
      .max(8000)
      .regex(/^[\t\x20-\x7e\x80-\xff]*$/),
  ),
  body: z.base64().transform((text) => Buffer.from(text, 'base64')),
})
const webAddress = z
  .url({ protocol: /^https?$/ })
  .max(8000)
  .transform((text) => new URL(text).href)
/** Others belong to the server: framing of messages, cookies of its users, its security policies. */
const HEADERS =
  /^(?:content-type|content-disposition|content-language|cache-control|etag|last-modified|expires|location|retry-after|vary|www-authenticate|x-(?!frame-options|powered-by|content-type).+)$/

export function makePluginCalls(deps: {
  active: Pick<ActivePlugins, 'recent' | 'find' | 'current'>
  hosts: Pick<PluginHosts, 'call' | 'blame'>
  config: () => Config
  logger: Logger
}): PluginCalls {
  const { active, hosts, config, logger } = deps

  async function find(named: { npmName: string; version?: string | undefined }): Promise<PluginRow> {
    const plugin = await active.find(named)
    if (!plugin) throw notFound('There is nothing here.')
    return plugin
  }

  async function authsOf(npmName: string, authName: string) {
    const plugin = await active.find({ npmName })
    return { plugin, auths: plugin ? authsIn(plugin).filter((one) => one.authName === authName) : [] }
  }

  async function ask(
    plugin: PluginRow,
    name: 'route' | 'begin',
    args: (request: object) => object,
    request: PluginRequest,
  ): Promise<PluginAnswer | undefined> {
    try {
      const asked = args({ ...request, body: request.body.toString('base64') })
      const said = parseEarly(answer, await hosts.call(plugin, name, asked, ROUTE_MS))
      return { ...said, headers: Object.fromEntries(Object.entries(said.headers).filter(([header]) => HEADERS.test(header))) }
    } catch (error) {
      logger.warn({ err: error, plugin: plugin.npm_name }, 'a plugin did not answer a request')
      return undefined
    }
  }

  return {
    handles: (hook) => active.current().some(({ declared }) => declared !== null && Object.hasOwn(declared.hooks, hook)),

    hidden: (kind) => active.current().flatMap(({ declared }) => declared?.constants[kind].deleted ?? []),

    async filter(hook, value, params, isGood) {
      let result = value
      const handlers = active
        .current()
        .flatMap((plugin) =>
          plugin.declared && Object.hasOwn(plugin.declared.hooks, hook) ? [{ plugin, priority: plugin.declared.hooks[hook] ?? 0 }] : [],
        )
        .toSorted((a, b) => b.priority - a.priority)
      for (const { plugin } of handlers) {
        try {
          const said = z
            .object({ result: z.unknown() })
            .parse(await hosts.call(plugin, 'filter', { hook, result, params }, config().vireo.plugins.filter_timeout))
          if (isGood(said.result)) result = said.result
          else {
            logger.warn({ plugin: plugin.npm_name, hook }, 'a plugin returned a value that cannot be used')
            await hosts.blame(plugin)
          }
        } catch (error) {
          logger.warn({ err: error, plugin: plugin.npm_name, hook }, 'a plugin did not filter')
        }
      }
      return result
    },

    async byPassword(username, password) {
      const logins = (await active.recent())
        .flatMap((plugin) => (plugin.declared?.idAndPassAuths ?? []).map((auth) => ({ plugin, ...auth })))
        .toSorted((a, b) => b.weight - a.weight)
      for (const { plugin, authName } of logins) {
        try {
          const user = await hosts.call(plugin, 'login', { authName, id: username, password }, LOGIN_MS)
          if (typeof user === 'object' && user !== null) return { npmName: plugin.npm_name, authName, user }
        } catch (error) {
          logger.warn({ err: error, plugin: plugin.npm_name }, 'a plugin did not check a login')
        }
      }
      return undefined
    },

    has: async (npmName, authName) => (await authsOf(npmName, authName)).auths.length > 0,
    checksSessions: () => active.current().some((plugin) => authsIn(plugin).some(({ hookTokenValidity }) => hookTokenValidity)),

    async isValid({ npmName, authName, user }, type) {
      const { plugin, auths } = await authsOf(npmName, authName)
      if (!plugin || !auths.some(({ hookTokenValidity }) => hookTokenValidity)) return true
      try {
        const said = await hosts.call(plugin, 'validity', { authName, user, type }, config().vireo.plugins.filter_timeout)
        return z.object({ valid: z.boolean() }).parse(said).valid
      } catch (error) {
        logger.warn({ err: error, plugin: npmName }, 'a plugin did not say whether a session is valid')
        return true
      }
    },

    async logout({ npmName, authName, user }) {
      const plugin = await active.find({ npmName })
      if (!plugin) return undefined
      const said = await hosts.call(plugin, 'logout', { authName, user }, LOGIN_MS).catch((error: unknown) => {
        if (error instanceof ChannelError && error.reason === 'closed') throw new NotNow('The process of the plugin is away.')
        throw error
      })
      return webAddress.safeParse(said).data
    },

    async route(named, request) {
      const plugin = await find(named)
      if (!plugin.declared?.hasRouter) throw notFound('There is nothing here.')
      return await ask(plugin, 'route', (asked) => asked, request)
    },

    async begin({ authName, ...named }, request) {
      const plugin = await find(named)
      if (!plugin.declared?.externalAuths.some((one) => one.authName === authName)) throw notFound('There is nothing here.')
      return await ask(plugin, 'begin', (asked) => ({ authName, request: asked }), request)
    },
  }
}

const authsIn = ({ declared }: Pick<PluginRow, 'declared'>) => [...(declared?.idAndPassAuths ?? []), ...(declared?.externalAuths ?? [])]
