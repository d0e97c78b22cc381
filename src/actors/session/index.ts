export {
  type ClientCredentials,
  endSessions,
  makeSessions,
  type Session,
  type Sessions,
  type Tokens,
} from './session.commands.ts'
