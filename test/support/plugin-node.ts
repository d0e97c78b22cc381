// A node with plugins enabled, and requests to it as its administrator.

import type { Values } from '../../src/config/layers.ts'
import type { Logger } from '../../src/platform/logger.ts'
import { startTestNode, type TestNode } from './node.ts'
import { fixturePlugin } from './plugin-registry.ts'
import { run } from './postgres.ts'
import { until } from './until.ts'

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: the answer of any route
  body: any
}

export interface PluginNode {
  node: TestNode
  ask(method: string, path: string, body?: object, options?: { base?: string; token?: string }): Promise<Answer>
  login(username: string, password: string): Promise<Answer>
  token: string
  /** Such as `GET /api/v1/videos`. */
  routes: ReadonlySet<string>
  /** Installs a plugin of test/fixtures/plugins, and waits until its process has started. */
  install(npmName: string): Promise<void>
  stop(): Promise<void>
}

export const WITH_PLUGINS: Values = {
  plugins: { enabled: true, index: { enabled: false } },
  live: { enabled: true, max_user_lives: 20 },
  rates_limit: { login: { max: 1000 }, plugins: { max: 100_000 } },
}

export async function startPluginNode(config: Values = WITH_PLUGINS, { logger }: { logger?: Logger } = {}): Promise<PluginNode> {
  const routes = new Set<string>()
  const node = await startTestNode({
    config,
    ...(logger ? { logger } : {}),
    onRoute: ({ method, url }) => [method].flat().forEach((one) => void routes.add(`${one} ${url}`)),
  })

  const ask: PluginNode['ask'] = async (method, path, body, { base = node.base, token = pluginNode.token } = {}) => {
    const answer = await fetch(`${base}${path}`, {
      method,
      redirect: 'manual',
      headers: { ...(token ? { authorization: `Bearer ${token}` } : {}), ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await answer.text()
    const isJson = /json/.test(answer.headers.get('content-type') ?? '')
    return { status: answer.status, headers: answer.headers, body: isJson && text ? JSON.parse(text) : text }
  }

  async function login(username: string, password: string): Promise<Answer> {
    const client = await (await fetch(`${node.base}/api/v1/oauth-clients/local`)).json()
    const form = new URLSearchParams({ ...client, grant_type: 'password', username, password })
    const answer = await fetch(`${node.base}/api/v1/users/token`, { method: 'POST', body: form })
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }

  const pluginNode: PluginNode = {
    node,
    ask,
    login,
    token: '',
    routes,
    async install(npmName) {
      await node.server.operator.plugins.installFolder(fixturePlugin(npmName))
      await until(
        async () => (await run(node.databaseUrl, `select 1 from plugin where npm_name = '${npmName}' and declared is not null`)).length > 0,
      )
      // Wait until this process knows the plugin's declarations.
      await until(async () => (await ask('GET', `/plugins/${npmName.replace('peertube-plugin-', '')}/router/ready`)).status !== 404)
    },
    stop: () => node.stop(),
  }
  pluginNode.token = (await login(node.username, node.password)).body.access_token
  return pluginNode
}
