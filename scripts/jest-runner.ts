// Jest's own test runner, with modules loaded by Node itself: imports of test files are loaded once per worker, not once per file in a vm
// context, and tests run the production code. Of `jest` only `fn` and `setTimeout` exist: code under test takes replacements and a clock
// as options.

import { createRequire, flushCompileCache, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { provideGlobals, type TestGlobals } from './jest-globals.ts'

interface Environment {
  global: { console: Console }
  moduleMocker: { fn(implementation?: unknown): unknown }
}

/** The runtime interface of Jest's runner, which loads modules into the vm context. */
interface Runtime {
  requireInternalModule(file: string): unknown
  setGlobalsForRuntime(globals: Omit<TestGlobals, 'jest'>): void
  unstable_shouldLoadAsEsm(file: string): boolean
  unstable_importModule(file: string): Promise<unknown>
}

type TestRunner = (globalConfig: object, config: object, environment: Environment, runtime: Runtime, ...more: unknown[]) => Promise<unknown>

const require = createRequire(import.meta.url)
const jestRunner: { default: TestRunner } = require('jest-circus/runner')

const TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL')
/** Jest stores the state of a file's run on the global object, which all files share here. Some of these symbols are new in each run. */
const STATE = ['TEST_TIMEOUT_SYMBOL', 'EVENT_HANDLERS', 'JEST_STATE_SYMBOL']

const globals = new URL('./jest-globals.ts', import.meta.url).href
registerHooks({
  resolve: (specifier, context, next) => (specifier === '@jest/globals' ? { url: globals, shortCircuit: true } : next(specifier, context)),
})

const runTestFile: TestRunner = (globalConfig, config, environment, runtime, ...more) => {
  const { console: ownConsole } = globalThis
  const env = { ...process.env }
  globalThis.console = environment.global.console
  // Without `await`, which would add this frame to the stack of every failure.
  return jestRunner.default(globalConfig, config, environment, loadingByNode(runtime, environment), ...more).finally(() => {
    globalThis.console = ownConsole
    // A worker may be killed, without writing what it has compiled.
    flushCompileCache()
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name]
    Object.assign(process.env, env)
    return assertNoLoop()
  })
}

/** Turns of the event loop in which work that tests left may end. */
const LAST_TURNS = 2_000

/** Throws if a loop goes on after the tests of a file: it would use a processor until the worker ends. */
async function assertNoLoop(): Promise<void> {
  for (let turn = 0; turn < LAST_TURNS; turn += 1) {
    if (!process.getActiveResourcesInfo().includes('Immediate')) return
    await new Promise(setImmediate)
  }
  throw new Error('A loop of this file does not end.')
}

function loadingByNode(runtime: Runtime, { moduleMocker }: Environment): Runtime {
  const replaced: Runtime = {
    requireInternalModule(file) {
      for (const name of Object.getOwnPropertySymbols(globalThis)) {
        if (STATE.includes(name.description ?? '')) Reflect.deleteProperty(globalThis, name)
      }
      delete require.cache[file]
      // Each `require` keeps what it has loaded.
      return createRequire(import.meta.url)(file)
    },
    setGlobalsForRuntime(given) {
      const fn = (implementation?: unknown) => moduleMocker.fn(implementation)
      const setTimeout = (ms: number) => Reflect.set(globalThis, TIMEOUT, ms)
      provideGlobals({ ...given, jest: { fn, setTimeout } })
    },
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (file) => import(pathToFileURL(file).href),
  }
  return Object.assign(Object.create(runtime), replaced)
}

export default runTestFile
