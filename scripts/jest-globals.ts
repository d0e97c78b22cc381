// Replacement of `@jest/globals`: bound to the current test file.

import type * as globals from '@jest/globals'

type Globals = typeof globals
export type TestGlobals = Omit<Globals, 'jest'> & { jest: { fn: unknown; setTimeout(ms: number): unknown } }

export let afterAll: Globals['afterAll']
export let afterEach: Globals['afterEach']
export let beforeAll: Globals['beforeAll']
export let beforeEach: Globals['beforeEach']
export let describe: Globals['describe']
export let expect: Globals['expect']
export let it: Globals['it']
export let jest: TestGlobals['jest']
export let test: Globals['test']

export function provideGlobals(given: TestGlobals): void {
  ;({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = given)
}
