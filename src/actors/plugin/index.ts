export { type ActivePlugins, makeActivePlugins } from './active-plugins.ts'
export { makePluginAssets, type PluginAssets } from './assets.ts'
export { makePluginHosts, type PluginHosts } from './host/hosts.ts'
export { lookForPluginVersions } from './latest-versions.ts'
export { EXACT_VERSION, LONGEST_NPM_NAME, NPM_NAME, type PluginType, pluginTypes, shortName, typeOf } from './manifest.ts'
export { makePlugins, type Plugins, type Settings, unknownPlugin } from './plugin.commands.ts'
export {
  findPlugin,
  findPluginSettings,
  listEnabledPlugins,
  listPlugins,
  type PluginRow,
  type RegisteredSetting,
} from './plugin.queries.ts'
export { sendPluginActions } from './plugin-actions.ts'
export { makeAnswerPlugin } from './plugin-answers.ts'
export { makePluginCalls, type PluginAnswer, type PluginCalls, type PluginRequest } from './plugin-calls.ts'
export { makePluginOperator, type PluginOperator } from './plugin-operator.ts'
export { LARGEST_MESSAGE, makePluginSockets, type PluginSockets } from './plugin-sockets.ts'
export { makePluginRegistry, type PluginRegistry } from './registry.ts'
