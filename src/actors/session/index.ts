export { type ClientCredentials, makeSessions, type Session, type Sessions, type Tokens } from './session.commands.ts'
