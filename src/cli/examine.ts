// Runs `vireo doctor` for the server, in a process of its own: it looks from outside, and cannot hold the server.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { type Examine, findingView } from '../http/debug/check-up.ts'
import type { CliContext } from './family.ts'

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url))
const TIMEOUT_MS = 120_000
const MAX_BYTES = 2 ** 20

const report = z.object({ findings: z.array(findingView) })

/** `files`: those of the option `--config`. */
export function makeExamine({ files, env, cwd }: CliContext & { files: readonly string[] }): Examine {
  return (sendMailTo) => {
    const config = files.flatMap((file) => ['--config', file])
    const args = [MAIN, ...config, '--json', 'doctor', ...(sendMailTo === undefined ? [] : [`--send-mail-to=${sendMailTo}`])]
    return new Promise((resolve, reject) => {
      execFile(process.execPath, args, { env, cwd, timeout: TIMEOUT_MS, killSignal: 'SIGKILL', maxBuffer: MAX_BYTES }, (error, stdout) => {
        // Problems that it finds are its exit code.
        try {
          resolve(report.parse(JSON.parse(stdout)).findings)
        } catch (cause) {
          reject(new Error('`vireo doctor` did not answer.', { cause: error ?? cause }))
        }
      })
    })
  }
}
