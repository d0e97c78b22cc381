// The order of the test files, the same on every machine: the slowest start first, so that none runs alone at the end, and chaos tests
// never run all at once.

import { statSync } from 'node:fs'

interface TestFile {
  path: string
}

/** Other test files between two chaos tests. */
const BETWEEN = 3
const LONG = [/\/test\/federation\/nodes-/, /\/test\/integration\/(?:routes|uploads)\//, /\/test\/federation\//]

export default class LongestFirst {
  /** Called by Jest before a run. */
  sort(tests: Iterable<TestFile>): TestFile[] {
    const files = [...tests].map((test) => ({ test, size: statSync(test.path).size }))
    const isChaos = ({ test }: (typeof files)[number]) => test.path.includes('/test/chaos/')
    const rank = ({ test }: (typeof files)[number]) => {
      const found = LONG.findIndex((pattern) => pattern.test(test.path))
      return found < 0 ? LONG.length : found
    }
    files.sort((a, b) => rank(a) - rank(b) || b.size - a.size)
    const chaos = files.filter(isChaos)
    const others = files.filter((file) => !isChaos(file))
    const ordered = chaos.flatMap((file, index) => [file, ...others.slice(index * BETWEEN, (index + 1) * BETWEEN)])
    return [...ordered, ...others.slice(chaos.length * BETWEEN)].map(({ test }) => test)
  }

  /** Results are not used. */
  cacheResults(): void {}
}
