export {
  type ApplicationTokenRow,
  type ApplicationTokens,
  listApplicationTokens,
  makeApplicationTokens,
} from './application-tokens.ts'
export { makeScopedTokens, type ScopedTokens } from './scoped-tokens.ts'
export { makeSessions } from './session.commands.ts'
export { listSessions } from './session.queries.ts'
export type {
  ClientCredentials,
  EndedSession,
  EnteredUser,
  ExternalLogins,
  PasswordLogin,
  Session,
  Sessions,
  Tokens,
  Visit,
} from './session.types.ts'
export { endSessions, renewSessions } from './session.writes.ts'
export { type TokenScope, tokenScopes } from './token-scope.ts'
export type { Viewer } from './viewer.ts'
