export { makeEditions } from './make-editions.ts'
export { makeStudio, type NewTask, type Studio } from './studio.commands.ts'
