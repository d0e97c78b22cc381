export { type HostAftermath, makeHostAftermath } from './aftermath.ts'
export { findBegun, type HostChange, type HostPreview, makeHostRewrite } from './rewrite.ts'
