export { type Change, changesOf, nested, valueAt } from './overrides.ts'
export { type ConfigEditor, makeRuntimeConfig, type RuntimeConfig } from './runtime-config.commands.ts'
export { makeStoredOverrides } from './stored-overrides.ts'
