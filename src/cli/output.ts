// Output of a command: lines for people, or one document with `--json`; progress and errors go to standard error.

import { createInterface } from 'node:readline/promises'
import { SingleBar } from 'cli-progress'

export type Output = ReturnType<typeof makeOutput>

export type ErrorCode = 'failed' | 'usage'

export interface Progress {
  /** `total` may be omitted while it is unknown. */
  at(done: number, total?: number): void
  end(): void
}

/** Wrong usage of the command: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const LINE_EVERY_MS = 10_000

export function makeOutput({ json }: { json: boolean }) {
  return {
    json,
    /** The result of the command. */
    answer(document: object, lines: string | readonly string[]) {
      if (json) console.log(JSON.stringify(document))
      else for (const line of [lines].flat()) console.log(line)
    },
    /** An additional remark; nothing with `--json`. */
    note(line: string) {
      if (!json) console.error(line)
    },
    /** Errors, on standard error. */
    complain(code: ErrorCode, lines: readonly string[]) {
      if (json) console.error(JSON.stringify({ error: { code, message: lines.join('\n') } }))
      else for (const line of lines) console.error(line)
    },
    /** A bar on a terminal, otherwise a line every so often; nothing with `--json`. */
    progress(what: string): Progress {
      if (json) return { at() {}, end() {} }
      return process.stderr.isTTY ? bar(what) : sayings(what)
    },
    /** Throws UsageError without a terminal, before a command begins that needs a confirmation. */
    assertCanAsk() {
      if (json || !process.stdin.isTTY || !process.stderr.isTTY) {
        throw new UsageError('There is no terminal for a confirmation: use --yes to continue.')
      }
    },
    /** Asks on a terminal. */
    async confirm(question: string) {
      const dialogue = createInterface({ input: process.stdin, output: process.stderr })
      try {
        return /^y(es)?$/i.test((await dialogue.question(`${question} [y/N] `)).trim())
      } finally {
        dialogue.close()
      }
    },
  }
}

function bar(what: string): Progress {
  const drawn = new SingleBar({
    format: `${what} {bar} {percentage} % | {value} of {total} | {duration_formatted}`,
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
  })
  drawn.start(0, 0)
  return {
    at(done, total = done) {
      drawn.setTotal(total)
      drawn.update(done)
    },
    end: () => drawn.stop(),
  }
}

function sayings(what: string): Progress {
  let said = performance.now()
  return {
    at(done, total) {
      if (performance.now() - said < LINE_EVERY_MS) return
      said = performance.now()
      console.error(`${what}: ${done}${total === undefined ? '' : ` of ${total}`}`)
    },
    end() {},
  }
}
