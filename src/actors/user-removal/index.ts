export { makeUserRemoval } from './remove-user.ts'
