// The process of one plugin: loads its library, gives it the plugin API, and answers the calls of the server. It runs with Node's permission
// model, without environment variables, and can read this folder and that of the plugin only.

import { createRequire, syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import os from 'node:os'
import v8 from 'node:v8'
import { openChannel } from '../channel.ts'
import { type About, makeApi } from './api.ts'

const LIFELINE = 3
let unregister: (() => unknown) | undefined

closeWhatPermissionsLeaveOpen()
const stream = new Socket({ fd: LIFELINE, readable: true, writable: true })
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

/** Node's permissions cover neither signals nor the priority of other processes, nor flags of V8. */
function closeWhatPermissionsLeaveOpen(): void {
  const refuse = (): never => {
    throw new Error('Plugins may not do this.')
  }
  for (const name of ['kill', '_kill', '_debugProcess', '_debugEnd', 'dlopen', 'binding', '_linkedBinding']) {
    Object.defineProperty(process, name, { value: refuse, configurable: false, writable: false })
  }
  os.setPriority = refuse
  v8.setFlagsFromString = refuse
  syncBuiltinESMExports()
}
