// The process of one plugin: loads its library, gives it the plugin API, and answers the calls of the server. It runs with Node's permission
// model, without environment variables, and can read this folder and that of the plugin only.

import { createRequire, syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import os from 'node:os'
import v8 from 'node:v8'
import { openChannel } from '../channel.ts'
import { type About, makeApi } from './api.ts'

const LIFELINE = 3
/** Of `process`. */
const CLOSED = [
  ...['kill', '_kill', '_debugProcess', '_debugEnd', 'dlopen', 'binding', '_linkedBinding', 'execve', 'chdir'],
  ...['setuid', 'seteuid', 'setgid', 'setegid', 'setgroups', 'initgroups'],
]
let unregister: (() => unknown) | undefined

const stream = new Socket({ fd: LIFELINE, readable: true, writable: true })
closeWhatPermissionsLeaveOpen()
// The server is gone.
stream.on('close', () => process.exit(0))

const api = makeApi((name, args) => channel.call(name, args, CALL_MS))
const CALL_MS = 10_000
const channel = openChannel({
  stream,
  async answer(name, args) {
    if (name === 'start') return await start(args as About & { library: string })
    if (name === 'unregister') return await unregister?.()
    return await api.answer(name, args)
  },
  broken: () => process.exit(1),
  trusting: true,
})

// A rejection that nobody handles is a fault of the plugin, and no reason to end: Node would.
process.on('unhandledRejection', (error) => void api.log('error', String(error)))

async function start({ library, ...about }: About & { library: string }): Promise<unknown> {
  const loaded: unknown = createRequire(library)(library)
  const plugin = typeof loaded === 'object' && loaded !== null && 'default' in loaded ? loaded.default : loaded
  const register: unknown = typeof plugin === 'object' && plugin !== null ? Reflect.get(plugin, 'register') : undefined
  if (typeof register !== 'function') throw new Error('The library of the plugin has no function `register`.')
  await register.call(plugin, api.options(about))
  const last: unknown = Reflect.get(Object(plugin), 'unregister')
  if (typeof last === 'function') unregister = () => last.call(plugin)
  void api.answer('action', { hook: 'action:application.listening', params: {} }).catch((error: unknown) => api.log('error', String(error)))
  return api.declared()
}

/** Node's permissions cover neither signals and priorities of other processes, users, flags of V8, files of reports, nor Unix sockets. */
function closeWhatPermissionsLeaveOpen(): void {
  const refuse = (): never => {
    throw new Error('Plugins may not do this.')
  }
  for (const name of CLOSED) close(process, name, refuse)
  // Its setters name a file that Node writes itself, such as when the heap is full. Libraries look whether it is there.
  close(process, 'report', undefined)
  close(os, 'setPriority', refuse)
  close(v8, 'setFlagsFromString', refuse)
  close(v8, 'setHeapSnapshotNearHeapLimit', refuse)
  // All Unix sockets have this prototype: with a path they make files, and reach services of the machine that trust its users.
  const pipe: object = Object.getPrototypeOf(Reflect.get(stream, '_handle'))
  for (const name of ['bind', 'connect', 'fchmod']) close(pipe, name, refuse)
  syncBuiltinESMExports()
}

function close(of: object, name: string, value: unknown): void {
  Object.defineProperty(of, name, { value, configurable: false, writable: false })
}
