export { type BrowserLogins, callbackPath, makeExternalLogins } from './external-login.commands.ts'
export { hasExternalAdministrator } from './external-login.queries.ts'
export { kinds } from './identity.commands.ts'
export type { PluginLogins, PluginUser } from './plugin-users.ts'
