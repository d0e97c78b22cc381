// The folder of a runner: one process at a time works in it, and what a killed one left there is removed.

import { mkdir, open, readdir, readFile, rm, stat, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { processIdentity } from '../platform/process-identity.ts'

/** Of the folders of jobs. */
export const JOB_PREFIX = 'job-'
const LOCK = 'lock'
/** In ms. The owner of a lock that was not touched for so long is dead, wherever it ran. */
const STALE = 30_000
const TOUCH_EVERY = 5_000

/** Makes the folder and locks it until `close`. Throws if another runner works in it. */
export async function openFolder(folder: string): Promise<{ close(): Promise<void> }> {
  await mkdir(folder, { recursive: true })
  const lock = join(folder, LOCK)
  if (!(await wrote(lock))) {
    if (!(await isAbandoned(lock))) throw new Error(`Another runner works in the folder ${folder}. Give each its own with --folder.`)
    await rm(lock, { force: true })
    if (!(await wrote(lock))) throw new Error(`Another runner has just begun to work in the folder ${folder}.`)
  }
  const touching = setInterval(() => {
    const now = new Date()
    utimes(lock, now, now).catch(() => undefined)
  }, TOUCH_EVERY)
  touching.unref()
  for (const name of await readdir(folder)) {
    if (name.startsWith(JOB_PREFIX)) await rm(join(folder, name), { recursive: true, force: true })
  }
  return {
    async close() {
      clearInterval(touching)
      await rm(lock, { force: true })
    },
  }
}

/** Undefined elsewhere than on Linux. */
const ownIdentity = (): string => `${hostname()}|${processIdentity(process.pid) ?? ''}`

/** False if there is a lock. */
async function wrote(lock: string): Promise<boolean> {
  try {
    const file = await open(lock, 'wx')
    try {
      await file.writeFile(ownIdentity())
    } finally {
      await file.close()
    }
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function isAbandoned(lock: string): Promise<boolean> {
  const [text, touchedAt] = await Promise.all([
    readFile(lock, 'utf8').catch(() => ''),
    stat(lock).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    ),
  ])
  if (Date.now() - touchedAt > STALE) return true
  const [host, identity] = text.split('|')
  // A container that was started again has the same name rarely, and other processes.
  return host === hostname() && identity !== undefined && identity !== '' && processIdentity(Number.parseInt(identity, 10)) !== identity
}
