export { makeScopedTokens, type ScopedTokens } from './scoped-tokens.ts'
export {
  type ClientCredentials,
  endSessions,
  makeSessions,
  type PasswordLogin,
  renewSessions,
  type Session,
  type Sessions,
  type Tokens,
  type Visit,
} from './session.commands.ts'
