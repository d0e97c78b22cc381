// Memory of a server while it writes an archive of 2 GiB: the video file is sparse, so that only the archive takes space.

import { type ChildProcess, execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Client, eventually, login } from '../scripts/demo/client.ts'
import { freePort, type NodeProcess, startNode } from '../scripts/demo/node-process.ts'
import { findFfmpeg } from '../src/media/index.ts'
import { processorTime, residentMemory } from './processes.ts'
import { printTable, verdict, verdictAtLeast } from './table.ts'

const GIB = 2 ** 30
const VIDEO_BYTES = 2 * GIB
const MAX_MIB = 400
const LOOK_EVERY_MS = 50
const LONGEST_MS = 600_000

export async function benchExport(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'vireo-bench-export-'))
  await chmod(dataDir, 0o711)
  let node: NodeProcess | undefined
  try {
    node = await startNode({
      dataDir,
      port: await freePort(),
      env: { VIREO__TRANSCODING__ENABLED: 'false', VIREO__STORYBOARDS__ENABLED: 'false' },
    })
    const client = await login(node.base, node.username, node.password)
    await uploadLarge(client, dataDir)
    const before = residentMemory(node.child.pid ?? 0)
    const { most, wallMs, processorMs, bytes } = await watched(node.child, () => exported(client))
    printTable(
      ['archive MiB', 'idle MiB', 'most MiB', 'wall s', 'CPU s'],
      [[bytes / 2 ** 20, before, most, wallMs / 1000, processorMs / 1000].map((value) => value.toFixed(0))],
    )
    verdictAtLeast('size of the archive', bytes / GIB, VIDEO_BYTES / GIB, ' GiB')
    verdict('resident memory while it is written', most, MAX_MIB, ' MiB')
  } finally {
    await node?.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** A short video whose file is extended in place. */
async function uploadLarge(client: Client, dataDir: string): Promise<void> {
  const folder = join(dataDir, 'bench')
  await mkdir(folder)
  const path = join(folder, 'video.mp4')
  const { ffmpegPath } = await findFfmpeg()
  const source = ['-f', 'lavfi', '-i', 'testsrc2=size=320x240:rate=15:duration=2']
  await promisify(execFile)(ffmpegPath, ['-v', 'error', ...source, '-pix_fmt', 'yuv420p', path])
  const me = await client.get<{ videoChannels: { id: number }[] }>('/api/v1/users/me')
  const form = new FormData()
  form.append('channelId', String(me.videoChannels[0]?.id))
  form.append('name', 'a long film')
  form.append('videofile', new Blob([await readFile(path)]), 'video.mp4')
  const { video } = await client.send<{ video: { uuid: string } }>('POST', '/api/v1/videos/upload', form)
  // The torrent too: otherwise two gigabytes are read for it repeatedly during the export.
  await eventually('the publication of the video', 60_000, async () => {
    const { state, files } = await client.get<{ state: { id: number }; files: { torrentUrl: string | null }[] }>(
      `/api/v1/videos/${video.uuid}`,
    )
    return state.id === 1 && files[0]?.torrentUrl
  })
  const stored = join(dataDir, 'storage', 'web-videos')
  for (const entry of await readdir(stored, { recursive: true })) {
    const file = join(stored, entry)
    if ((await stat(file)).isFile()) await truncate(file, VIDEO_BYTES)
  }
}

/** Requests the archive and waits for it. Returns its size in bytes. */
async function exported(client: Client): Promise<number> {
  const { id } = await client.get<{ id: number }>('/api/v1/users/me')
  const address = `/api/v1/users/${id}/exports`
  await client.send('POST', `${address}/request`, { withVideoFiles: true })
  return await eventually('the archive', LONGEST_MS, async () => {
    const { data } = await client.get<{ data: { size: number | null; state: { id: number } }[] }>(address)
    return data[0]?.state.id === 3 && data[0].size
  })
}

/** The maximum memory of the server during `work` in MiB, and its result. */
async function watched(child: ChildProcess, work: () => Promise<number>) {
  const pid = child.pid ?? 0
  const [began, beganProcessor] = [performance.now(), processorTime(pid)]
  let most = 0
  const timer = setInterval(() => {
    most = Math.max(most, residentMemory(pid))
  }, LOOK_EVERY_MS)
  try {
    const bytes = await work()
    return { bytes, most, wallMs: performance.now() - began, processorMs: processorTime(pid) - beganProcessor }
  } finally {
    clearInterval(timer)
  }
}
