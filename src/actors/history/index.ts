export { type History, makeHistory } from './history.commands.ts'
