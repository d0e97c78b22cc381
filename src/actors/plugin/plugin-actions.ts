// Actions of plugins: what has happened, as jobs made from events, so that each arrives at least once after its commit.

import type { Sql } from '../../platform/database/index.ts'
import { type ActorDeps, type EventName, type EventPayloads, NotNow, type Unit } from '../runtime/index.ts'
import type { ActivePlugins } from './active-plugins.ts'
import { ChannelError } from './host/channel.ts'
import type { PluginHosts } from './host/hosts.ts'

interface Action {
  hook: string
  ids: Record<string, number>
}

/** The action of an event; undefined for none. */
type Actions = { [N in EventName]?: (payload: EventPayloads[N], query: Sql) => Action | undefined | Promise<Action> }

const ACTIONS: Actions = {
  VideoPublished: ({ videoId, again }) => (again ? undefined : { hook: 'action:api.video.uploaded', ids: { videoId } }),
  VideoUpdated: ({ videoId }) => ({ hook: 'action:api.video.updated', ids: { videoId } }),
  VideoRemoved: ({ videoId }) => ({ hook: 'action:api.video.deleted', ids: { videoId } }),
  LiveStarted: ({ videoId }) => ({ hook: 'action:live.video.state.updated', ids: { videoId } }),
  LiveEnded: ({ videoId }) => ({ hook: 'action:live.video.state.updated', ids: { videoId } }),
  async CommentCreated({ commentId }, query) {
    const [reply] = await query('select 1 from comment where id = $1 and parent_id is not null', [commentId])
    return { hook: `action:api.${reply ? 'video-comment-reply' : 'video-thread'}.created`, ids: { commentId } }
  },
  CommentRemoved: ({ commentId, videoId }) => ({ hook: 'action:api.video-comment.deleted', ids: { commentId, videoId } }),
  UserRegistered: ({ userId }) => ({ hook: 'action:api.user.registered', ids: { userId } }),
  UserRemoved: ({ userId }) => ({ hook: 'action:api.user.deleted', ids: { userId } }),
  ChannelRemoved: ({ channelId }) => ({ hook: 'action:api.video-channel.deleted', ids: { channelId } }),
}

const ACTION_MS = 10_000

export function sendPluginActions(deps: ActorDeps & { active: Pick<ActivePlugins, 'recent'>; hosts: Pick<PluginHosts, 'call'> }): void {
  const { registry, config, active, hosts } = deps

  async function enqueue(unit: Unit, { hook, ids }: Action): Promise<void> {
    const wanting = await unit.query<{ id: number }>(`select id from plugin where state = 'enabled' and declared->'hooks' ? $1`, [hook])
    for (const { id } of wanting) unit.enqueue({ type: 'plugin-action', data: { pluginId: id, hook, ...ids } })
  }

  for (const [event, toAction] of Object.entries(ACTIONS) as [
    EventName,
    (payload: unknown, query: Sql) => Promise<Action> | Action | undefined,
  ][]) {
    registry.on(event, 'plugins', async (payload, unit) => {
      if (!config().plugins.enabled) return
      const action = await toAction(payload, unit.query)
      if (action) await enqueue(unit, action)
    })
  }

  registry.job('plugin-action', {
    queue: 'io',
    async run({ data: { pluginId, hook, ...params } }) {
      const plugin = (await active.recent()).find(({ id }) => id === pluginId)
      if (!plugin) return
      try {
        await hosts.call(plugin, 'action', { hook, params }, ACTION_MS)
      } catch (error) {
        if (error instanceof ChannelError && error.reason === 'closed') throw new NotNow('The process of the plugin is away.')
        throw error
      }
    },
  })
}
