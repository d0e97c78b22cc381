// The plugin API as its library gets it (`RegisterServerOptions` of PeerTube), with calls to the server behind it.

import { PING } from '../channel.ts'
import { makeRouter, type PluginRequest, type Response, type Router } from './router.ts'
import { makeSockets, type SocketHandler } from './sockets.ts'

type Call = (name: string, args: unknown) => Promise<unknown>
type Callback = (...args: never[]) => unknown
type Level = 'debug' | 'info' | 'warn' | 'error'

interface Hook {
  target: string
  handler: Callback
  priority?: number
}

interface Auth {
  authName: string
  [name: string]: unknown
}

type Constant = 'language' | 'licence' | 'category' | 'privacy' | 'playlistPrivacy'

/** Values that the server has no meaning for beyond their names. */
const EXTENSIBLE: ReadonlySet<Constant> = new Set(['language', 'licence', 'category'])

/** Values of a constant that the plugin removes and adds. */
interface Changes {
  deleted: string[]
  added: Record<string, string>
}

/** What the server says at the start. */
export interface About {
  npmName: string
  name: string
  version: string
  /** Public origin of the server. */
  origin: string
  /** Of constants, by key. */
  labels: Record<Constant, Record<string, string>>
}

const none = (): Changes => ({ deleted: [], added: {} })
const unchanged = (): Record<Constant, Changes> => ({
  language: none(),
  licence: none(),
  category: none(),
  privacy: none(),
  playlistPrivacy: none(),
})

export function makeApi(call: Call) {
  const hooks: Hook[] = []
  const settings: object[] = []
  const idAndPassAuths = new Map<string, Auth>()
  const externalAuths = new Map<string, Auth>()
  const settingsChanged: Callback[] = []
  const constants = unchanged()
  const sockets = makeSockets((message) => call('socket', message))
  let routed: ReturnType<typeof makeRouter> | undefined
  let isStarted = false

  const log = (level: Level, message: string): Promise<void> =>
    call('log', { level, message: message.slice(0, 2000) }).then(
      () => undefined,
      () => undefined,
    )

  const declared = () => ({
    settings,
    hooks: Object.fromEntries(
      [...new Set(hooks.map(({ target }) => target))].map((target) => [
        target,
        Math.max(...hooks.filter((one) => one.target === target).map(({ priority = 0 }) => priority)),
      ]),
    ),
    hasRouter: routed !== undefined,
    webSocketRoutes: sockets.routes(),
    idAndPassAuths: [...idAndPassAuths.values()].map((auth) => ({
      authName: auth.authName,
      weight: weightOf(auth.getWeight),
      hookTokenValidity: typeof auth.hookTokenValidity === 'function',
    })),
    externalAuths: [...externalAuths.values()].map((auth) => ({
      authName: auth.authName,
      authDisplayName: typeof auth.authDisplayName === 'function' ? String(auth.authDisplayName()) : auth.authName,
      hookTokenValidity: typeof auth.hookTokenValidity === 'function',
    })),
    constants,
  })

  /** With the defaults of those that are not set. */
  async function settingsOf(names: string[]): Promise<Record<string, unknown>> {
    const set = Object((await call('getSettings', { names })) ?? {}) as Record<string, unknown>
    const initial = (name: string): unknown => Reflect.get(settings.find((one) => Reflect.get(one, 'name') === name) ?? {}, 'default')
    return Object.fromEntries(names.map((name) => [name, set[name] ?? initial(name)]))
  }

  /** After the start the server must learn of changes. */
  function changed(): void {
    if (isStarted) call('declare', declared()).catch((error: unknown) => log('error', String(error)))
  }

  const constantManager = (kind: Constant, labels: Record<string, string>) => {
    const present = (): Record<string, string> => {
      const { deleted, added } = constants[kind]
      return { ...Object.fromEntries(Object.entries(labels).filter(([key]) => !deleted.includes(key))), ...added }
    }
    return {
      addConstant(key: string | number, label: string): boolean {
        if (!EXTENSIBLE.has(kind)) void log('warn', `This server gives no meaning to new values (${kind} ${key}) of plugins.`)
        if (!EXTENSIBLE.has(kind) || Object.hasOwn(present(), String(key))) return false
        constants[kind].added[String(key)] = String(label)
        changed()
        return true
      },
      deleteConstant(key: string | number): boolean {
        const { deleted, added } = constants[kind]
        if (!Object.hasOwn(present(), String(key))) return false
        if (Object.hasOwn(added, String(key))) delete added[String(key)]
        else deleted.push(String(key))
        changed()
        return true
      },
      resetConstants(): void {
        constants[kind] = none()
        changed()
      },
      getConstants: present,
      getConstantValue: (key: string | number) => present()[String(key)],
    }
  }

  const refused =
    (what: string) =>
    (..._args: unknown[]): never => {
      throw new Error(`This server does not offer ${what} to plugins.`)
    }

  function options(about: About) {
    const { labels } = about
    const managers = {
      videoLanguageManager: constantManager('language', labels.language),
      videoLicenceManager: constantManager('licence', labels.licence),
      videoCategoryManager: constantManager('category', labels.category),
      videoPrivacyManager: constantManager('privacy', labels.privacy),
      playlistPrivacyManager: constantManager('playlistPrivacy', labels.playlistPrivacy),
    }
    const logger = Object.fromEntries(
      (['debug', 'info', 'warn', 'error'] as const).map((level) => [
        level,
        (message: unknown, more?: unknown) => void log(level, more === undefined ? String(message) : `${message} ${describe(more)}`),
      ]),
    )
    const base = `/plugins/${about.name}`
    return {
      registerHook: (hook: Hook): void => {
        hooks.push(hook)
        changed()
      },
      registerSetting: (setting: object): void => {
        settings.push(JSON.parse(JSON.stringify(setting)) as object)
        changed()
      },
      settingsManager: {
        getSetting: async (name: string) => (await settingsOf([name]))[name],
        getSettings: settingsOf,
        setSetting: (name: string, value: unknown) => call('setSetting', { name, value }),
        onSettingsChange: (callback: Callback): void => void settingsChanged.push(callback),
      },
      storageManager: {
        getData: (key: string) => call('getData', { key }),
        storeData: (key: string, value: unknown) => call('storeData', { key, value: value ?? null }),
      },
      ...managers,
      registerIdAndPassAuth: (auth: Auth): void => {
        idAndPassAuths.set(auth.authName, auth)
        changed()
      },
      unregisterIdAndPassAuth: (authName: string): void => {
        idAndPassAuths.delete(authName)
        changed()
      },
      registerExternalAuth: (auth: Auth) => {
        externalAuths.set(auth.authName, auth)
        changed()
        return {
          userAuthenticated: ({ res, ...user }: { req: unknown; res: Response; [name: string]: unknown }): void => {
            const { req: _request, ...claims } = user
            call('externalLogin', { authName: auth.authName, user: claims }).then(
              (address) => res.redirect(String(address)),
              () => res.redirect('/login?externalAuthError=true'),
            )
          },
        }
      },
      unregisterExternalAuth: (authName: string): void => {
        externalAuths.delete(authName)
        changed()
      },
      getRouter: (): Router => {
        routed ??= makeRouter()
        changed()
        return routed.router
      },
      registerWebSocketRoute: ({ route, handler }: { route: string; handler: SocketHandler }): void => {
        sockets.add(route, handler)
        changed()
      },
      transcodingManager: Object.fromEntries(
        ['addLiveProfile', 'addVODProfile', 'addLiveEncoderPriority', 'addVODEncoderPriority', 'removeAllProfilesAndEncoderPriorities'].map(
          (name) => [name, refused('transcoding profiles: it plans its renditions itself')],
        ),
      ),
      peertubeHelpers: {
        logger,
        config: {
          getWebserverUrl: () => about.origin,
          getServerConfig: refused('its configuration: GET /api/v1/config has it'),
          getServerListeningConfig: refused('its listening address'),
        },
        plugin: {
          getBaseStaticRoute: () => `${base}/${about.version}/static/`,
          getBaseRouterRoute: () => `${base}/${about.version}/router/`,
          getBaseWebSocketRoute: () => `${base}/${about.version}/ws/`,
          getDataDirectoryPath: refused('a folder to write to: storageManager stores data'),
        },
        user: {
          getAuthUser: async (response: Response) => response.locals.user ?? undefined,
          loadById: (id: number) => call('loadUser', { id }),
        },
        videos: {
          loadByIdOrUUID: (id: number | string) => call('loadVideo', { id: String(id) }),
          loadByUrl: refused('videos by their address'),
          removeVideo: refused('the removal of videos'),
          getFiles: refused('the files of videos'),
          ffprobe: refused('ffprobe'),
        },
        database: { query: refused('its database') },
        moderation: new Proxy({}, { get: () => refused('moderation') }),
        notifications: new Proxy({}, { get: () => refused('notifications') }),
        server: { getServerActor: refused('its actor') },
        socket: new Proxy({}, { get: () => refused('its sockets') }),
      },
    }
  }

  const inOrder = (target: string): Hook[] =>
    hooks.filter((hook) => hook.target === target).toSorted((a, b) => (b.priority ?? 0) - (a.priority ?? 0))

  /** Calls a function of a login; undefined if it has none. */
  async function callAuth(authName: unknown, name: string, argument: unknown): Promise<unknown> {
    const auths = [externalAuths, idAndPassAuths].map((all) => all.get(String(authName)))
    const auth = auths.find((one) => typeof one?.[name] === 'function')
    return auth && (await Reflect.apply(auth[name] as Callback, auth, [argument]))
  }

  async function answer(name: string, args: unknown): Promise<unknown> {
    const asked = Object(args) as Record<string, unknown>
    switch (name) {
      case PING:
        return null
      case 'filter': {
        let result = asked.result
        for (const { handler } of inOrder(String(asked.hook))) result = await handler(...([result, asked.params] as never[]))
        return { result: result ?? null }
      }
      case 'action':
        for (const { handler } of inOrder(String(asked.hook))) await handler(...([asked.params] as never[]))
        return null
      case 'route':
        if (!routed) throw new Error('The plugin has no router.')
        return await routed.handle(args as PluginRequest)
      case 'settings':
        for (const callback of settingsChanged) await callback(...([asked.settings] as never[]))
        return null
      case 'login': {
        const login = idAndPassAuths.get(String(asked.authName))?.login
        return typeof login === 'function' ? await login({ id: asked.id, password: asked.password }) : null
      }
      case 'logout':
        return (await callAuth(asked.authName, 'onLogout', asked.user)) ?? null
      case 'validity': {
        const token = { authName: asked.authName, User: asked.user }
        const said = await callAuth(asked.authName, 'hookTokenValidity', { token, type: asked.type })
        return { valid: Object(said).valid !== false }
      }
      case 'begin': {
        const auth = externalAuths.get(String(asked.authName))
        if (typeof auth?.onAuthRequest !== 'function') throw new Error('The plugin has no such login.')
        const begun = makeRouter()
        begun.router.use((request: unknown, response: unknown) => Reflect.apply(auth.onAuthRequest as Callback, auth, [request, response]))
        return await begun.handle(asked.request as PluginRequest)
      }
      default:
        return await sockets.answer(name, args)
    }
  }

  return {
    options,
    log,
    answer,
    declared() {
      isStarted = true
      return declared()
    },
  }
}

const weightOf = (getWeight: unknown): number => {
  const weight: unknown = typeof getWeight === 'function' ? getWeight() : 0
  return typeof weight === 'number' && Number.isSafeInteger(weight) ? weight : 0
}

function describe(more: unknown): string {
  try {
    return JSON.stringify(more, (_name, value: unknown) => (value instanceof Error ? value.message : value)) ?? ''
  } catch {
    return String(more)
  }
}
