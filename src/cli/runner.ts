// `vireo runner`: does jobs of a server on this machine. It needs neither a database nor the configuration of that server.

import { hostname } from 'node:os'
import { join } from 'node:path'
import { findFfmpeg } from '../media/index.ts'
import { makeLogger } from '../platform/logger.ts'
import { runnerTokenFor } from '../remote-runner/identity.ts'
import { makeProtocol } from '../remote-runner/protocol.ts'
import { runRemoteRunner } from '../remote-runner/runner.ts'
import { VERSION } from '../version.ts'
import { positive, type Tools } from './family.ts'

interface Options {
  server: string
  token?: string
  name: string
  concurrency: number
  folder?: string
}

/** In ms. */
const REQUEST_EVERY = 2_000
const REPORT_EVERY = 5_000

export function runnerCommands({ program, load, out, env }: Tools): void {
  program
    .command('runner')
    .description('transcode and edit videos for a server, as a remote runner of it, until it gets a signal to end')
    .requiredOption('--server <url>', 'address of the server')
    .option('--token <token>', 'a registration token of it, or the token of a runner; by default VIREO_RUNNER_TOKEN')
    .option('--name <name>', 'name of the runner, unique on the server', hostname())
    .option('--concurrency <number>', 'jobs at once', positive, 1)
    .option('--folder <path>', 'for its token and the files of jobs; by default `runner` in the data folder')
    .action(async ({ server, name, concurrency, ...options }: Options) => {
      const { config, dataDir } = load()
      const token = options.token ?? env.VIREO_RUNNER_TOKEN
      if (!token) throw new Error('A token is needed: --token, or VIREO_RUNNER_TOKEN.')
      const { ffmpeg_path, ffprobe_path, stall_timeout: stallMs, max_memory: maxMemoryBytes } = config.vireo.media
      const folder = options.folder ?? join(dataDir, 'runner')
      const protocol = makeProtocol({ server, version: VERSION })
      const end = new AbortController()
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end.abort())
      const runnerToken = await runnerTokenFor({ protocol, server, token, name, folder })
      out.answer({ running: { runner: name, server } }, `The runner "${name}" works for ${server}.`)
      await runRemoteRunner({
        protocol,
        runnerToken,
        ffmpeg: await findFfmpeg({ ffmpegPath: ffmpeg_path ?? undefined, ffprobePath: ffprobe_path ?? undefined }),
        limits: { stallMs, maxMemoryBytes },
        threads: config.transcoding.threads,
        concurrency,
        requestEvery: REQUEST_EVERY,
        reportEvery: REPORT_EVERY,
        folder,
        logger: makeLogger({ level: config.log.level }),
        signal: end.signal,
      })
    })
}
