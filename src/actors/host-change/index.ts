export { type AfterHostChange, makeAfterHostChange } from './after-change.ts'
export { findBegun, type HostChange, type HostPreview, makeHostRewrite } from './rewrite.ts'
