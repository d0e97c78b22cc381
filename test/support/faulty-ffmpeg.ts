// An ffmpeg that does as it is told when it makes renditions, or what else is meant: hang, crash, take memory, leave children, find the disk full.

import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ffmpeg } from '../../src/media/index.ts'
import { serverFfmpeg, temporaryFolder } from './media.ts'

const FAULTS = {
  /** Silent for good, with a child that is so too. */
  hang: 'sleep 600 & note $!; wait',
  /** Deaf to everything but SIGKILL, with children in the background that outlive it. */
  deaf: "trap '' TERM INT HUP; sleep 600 & note $!; (sleep 600 & note $!; wait) & note $!; while :; do sleep 1; done",
  /** Gone at once, with a child left. */
  leave: 'sleep 600 & note $!; echo "Something went wrong" >&2; exit 1',
  crash: 'exit 139',
  killed: 'kill -SEGV $$',
  /** 300 MB in a child of its own, which keeps them: nobody reads what it has. */
  memory: 'head -c 300000000 /dev/zero | tail -c 300000000 | sleep 600 & note $!; wait',
  full: 'echo "av_interleaved_write_frame(): No space left on device" >&2; exit 1',
  /** Goes on for ever, and says so. */
  endless: 'n=0; while :; do n=$((n+1)); echo "frame=$n time=00:00:0$((n%9)).00 bitrate=1" >&2; sleep 0.1; done',
  none: 'exec "$real" "$@"',
} as const

export type Fault = keyof typeof FAULTS

export interface FaultyFfmpeg {
  ffmpeg: Ffmpeg
  /** From now on. */
  become(fault: Fault): Promise<void>
  /** The processes that it started, and itself. */
  pids(): Promise<number[]>
}

/** `when`: what of its arguments means that it is to be faulty. */
export async function faultyFfmpeg({ when = ' -f hls ' } = {}): Promise<FaultyFfmpeg> {
  const real = await serverFfmpeg()
  const folder = await temporaryFolder()
  const path = join(folder, 'ffmpeg')
  const cases = Object.entries(FAULTS).map(([name, script]) => `  ${name}) ${script} ;;`)
  const script = `#!/bin/sh
real="${real.ffmpegPath}"
note() { echo "$1" >> "${folder}/pids"; }
case "$*" in *"${when}"*) ;; *) exec "$real" "$@" ;; esac
note $$
case "$(cat "${folder}/fault")" in
${cases.join('\n')}
esac
`
  await writeFile(path, script)
  await chmod(path, 0o755)
  const become = (fault: Fault): Promise<void> => writeFile(join(folder, 'fault'), fault)
  await become('none')
  return {
    ffmpeg: { ...real, ffmpegPath: path },
    become,
    pids: async () => (await readFile(join(folder, 'pids'), 'utf8')).split('\n').filter(Boolean).map(Number),
  }
}

/** Whether a process runs; one that ended and waits to be buried does not. */
export async function isRunning(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const state = text.slice(text.lastIndexOf(')') + 2).at(0)
  return state !== undefined && state !== 'Z' && state !== 'X'
}
