// Users whose logins plugins check: what the plugin says about them, and how it gets to know them again.

import type { Sql } from '../../platform/database/index.ts'
import { userRoles } from '../user/index.ts'
import { type Claims, readClaims } from './claims.ts'
import type { Provider } from './identity.commands.ts'

/** A user as a plugin knows it. */
export interface PluginUser {
  npmName: string
  authName: string
  user: object
}

/** Logins that plugins check. */
export interface PluginLogins {
  /** Undefined if no plugin knows the user with this password. */
  byPassword(username: string, password: string): Promise<PluginUser | undefined>
  /** True if the plugin is on, and has this login. */
  has(npmName: string, authName: string): Promise<boolean>
  /** True if some plugin wants to be asked whether sessions are valid, as known to this process. */
  checksSessions(): boolean
  /** False if the plugin says so; true if it does not answer within `vireo.plugins.filter_timeout`. */
  isValid(login: PluginUser, type: 'access' | 'refresh'): Promise<boolean>
  /** Tells the plugin, if it wants to know of logouts. Returns the address at which the browser logs out elsewhere too. Throws NotNow while the process of the plugin is away. */
  logout(login: PluginUser): Promise<string | undefined>
}

/** Undefined if the plugin names no user. */
export function readPluginUser({ user }: PluginUser): Claims | undefined {
  const { username, email, displayName, videoQuota: quota } = user as Record<string, unknown>
  return readClaims({ subject: username, username, email, displayName, groups: roleIn(user), quota }, true)
}

/** The role that the plugin names, as a group; none if it names no role. */
function roleIn(user: object): string[] {
  const role: unknown = Reflect.get(user, 'role')
  return typeof role === 'number' || typeof role === 'string' ? [String(role)] : []
}

/** A name of a package has no slash, while that of a login may have any letter. */
const PROVIDER = /^plugin:([^/]+)\/(.+)$/s

/** Users of a plugin are its own: it cannot log in others, and makes no administrators. */
export function pluginProvider({ npmName, authName, user }: PluginUser): Provider {
  const rules = {
    link_by_email: false,
    trust_email: true,
    allowed_groups: [],
    administrator_groups: [],
    moderator_groups: roleIn(user).length === 0 ? [] : [String(userRoles.moderator)],
  }
  return { id: `plugin:${npmName}/${authName}`, npmName, rules }
}

/** The user of an identity as the plugin of the login knows them; undefined for those of others. */
export async function pluginLoginOf(query: Sql, identityId: number): Promise<PluginUser | undefined> {
  const [row] = await query<{ provider: string; user: object }>(
    `select i.provider, json_build_object('id', u.id, 'username', u.username, 'email', u.email, 'role', u.role, 'pluginAuth', u.plugin_auth) as user
     from external_identity i join users u on u.id = i.user_id where i.id = $1 and i.provider like 'plugin:%'`,
    [identityId],
  )
  const [, npmName, authName] = PROVIDER.exec(row?.provider ?? '') ?? []
  return row && npmName && authName ? { npmName, authName, user: row.user } : undefined
}
