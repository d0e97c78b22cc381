// Which yt-dlp there is, for whoever looks after the server.

import { runProcess } from '../../process.ts'
import { type FindYtDlpOptions, locateYtDlp } from './find.ts'

/** Python reads hundreds of files before it says anything. */
const TIMEOUT_MS = 15_000
const MAX_OUTPUT = 10_000

export interface FoundYtDlp {
  path: string
  /** As it prints it, such as `2025.01.26`; undefined when it does not run. */
  version: string | undefined
}

/** Undefined when there is none. */
export async function askYtDlp(options: Omit<FindYtDlpOptions, 'links'>): Promise<FoundYtDlp | undefined> {
  const program = await locateYtDlp(options)
  if (!program) return undefined
  const { command, args } = program
  const end = await runProcess({
    path: command,
    args: [...args, '--ignore-config', '--version'],
    limits: { timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_OUTPUT },
    env: { PATH: options.path, LANG: 'C.UTF-8', PYTHONDONTWRITEBYTECODE: '1' },
  }).catch(() => undefined)
  const version = end?.code === 0 ? end.stdout.trim().split('\n', 1)[0] : undefined
  return { path: args[0] ?? command, version: version === '' ? undefined : version }
}
