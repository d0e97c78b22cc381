// Runs commands of the operator within the test process.

import { tmpdir } from 'node:os'
import { cli } from '../../../src/cli/cli.ts'
import { serverFfmpeg } from '../../support/media.ts'
import type { TestNode } from '../../support/node.ts'

const { ffmpegPath, ffprobePath } = await serverFfmpeg()

export interface Said {
  code: number
  /** Standard output and standard error. */
  said: string
  complaint: string
}

/** Environment variables with which a command uses the data of the node. */
export const environmentOf = (node: TestNode): Record<string, string | undefined> => ({
  PATH: process.env.PATH,
  DATABASE_URL: node.databaseUrl,
  VIREO_DATA_DIR: node.dataDir,
  VIREO__WEBSERVER__HOSTNAME: '127.0.0.1',
  VIREO__WEBSERVER__PORT: new URL(node.base).port,
  VIREO__VIREO__MEDIA__FFMPEG_PATH: ffmpegPath,
  VIREO__VIREO__MEDIA__FFPROBE_PATH: ffprobePath,
})

/** Runs a command; returns its output and exit code. */
export async function runVireo(env: Record<string, string | undefined>, args: readonly string[]): Promise<Said> {
  const [said, complaint]: [string[], string[]] = [[], []]
  const { log, error } = console
  console.log = (line: string) => void said.push(line)
  console.error = (line: string) => void complaint.push(line)
  try {
    const code = await cli([...args], { env, cwd: tmpdir() })
    return { code, said: said.join('\n'), complaint: complaint.join('\n') }
  } finally {
    Object.assign(console, { log, error })
  }
}

/** Runs a command with `--json`, and returns its document. */
export async function queryVireo<T>(env: Record<string, string | undefined>, args: readonly string[]): Promise<T> {
  const { said, complaint } = await runVireo(env, [...args, '--json'])
  if (said === '') throw new Error(complaint)
  return JSON.parse(said)
}
