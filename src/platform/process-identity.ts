export { processIdentity } from './embedded-postgres-process.ts'
