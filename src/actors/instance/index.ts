export { type Instance, type LocalClient, makeInstance } from './instance.commands.ts'
