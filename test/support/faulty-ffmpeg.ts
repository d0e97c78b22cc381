// An ffmpeg with faults when it makes renditions, or for other arguments: it hangs, crashes, uses too much memory, leaves children, or
// finds the disk full.

import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Ffmpeg } from '../../src/media/index.ts'
import { serverFfmpeg, temporaryFolder } from './media.ts'

const FAULTS = {
  /** Hangs without output, with a child that hangs too. */
  hang: 'sleep 600 & note $!; wait',
  /** Ignores every signal but SIGKILL, with background children that outlive it. */
  deaf: "trap '' TERM INT HUP; sleep 600 & note $!; (sleep 600 & note $!; wait) & note $!; while :; do sleep 1; done",
  /** Exits at once, and leaves a child. */
  leave: 'sleep 600 & note $!; echo "Something went wrong" >&2; exit 1',
  crash: 'exit 139',
  killed: 'kill -SEGV $$',
  /** Holds 300 MB in a child whose output nobody reads. */
  memory: 'head -c 300000000 /dev/zero | tail -c 300000000 | sleep 600 & note $!; wait',
  full: 'echo "av_interleaved_write_frame(): No space left on device" >&2; exit 1',
  /** Runs forever, and reports progress. */
  endless: 'n=0; while :; do n=$((n+1)); echo "frame=$n time=00:00:0$((n%9)).00 bitrate=1" >&2; sleep 0.1; done',
  none: 'exec "$real" "$@"',
} as const

export type Fault = keyof typeof FAULTS

export interface FaultyFfmpeg {
  ffmpeg: Ffmpeg
  /** Sets the fault of all following calls. */
  become(fault: Fault): Promise<void>
  /** Pids of the ffmpegs and of the processes that they started. */
  pids(): Promise<number[]>
}

/** `when`: text in its arguments that triggers the fault. */
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

/** Whether a process runs; a zombie does not. */
export async function isRunning(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const state = text.slice(text.lastIndexOf(')') + 2).at(0)
  return state !== undefined && state !== 'Z' && state !== 'X'
}
