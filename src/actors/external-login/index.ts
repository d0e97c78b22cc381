export {
  type BrowserLogins,
  callbackPath,
  kinds,
  makeExternalLogins,
  type PluginLogins,
  type PluginUser,
} from './external-login.commands.ts'
export { hasExternalAdministrator } from './external-login.queries.ts'
