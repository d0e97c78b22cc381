// The public face of the configuration.

export type { Config, JobTypeConfig, LdapProvider, OpenIdProvider } from './complete.ts'
export type { DatabaseChoice, RedisChoice } from './connections.ts'
export { describeConfig } from './describe.ts'
export { ConfigError } from './errors.ts'
export { DEFAULT_NAME, nsfwPolicies } from './keys/community.ts'
export { ldapProvider, openIdProvider } from './keys/items.ts'
export { JOB_TYPE_NAMES, type JobTypeName } from './keys/vireo-jobs.ts'
export type { Values } from './layers.ts'
export { type LoadedConfig, type LoadOptions, loadConfig } from './load.ts'
export { isMailEnabled, publicAddress } from './mail.ts'
export { aboutKey, type ConfigSource, isSecret, makeConfigSource } from './source.ts'
export { parseSize } from './units.ts'
