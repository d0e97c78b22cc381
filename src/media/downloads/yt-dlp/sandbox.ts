// A network namespace for yt-dlp: its only access is one UNIX socket, that of the guarded proxy. The proxy option relies on the program's
// cooperation; the namespace does not.

import { access, constants, open, rm } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProcess } from '../../process.ts'

export interface Sandbox {
  command: string
  args: string[]
}

export interface FindSandboxOptions {
  pythonPath: string
  /** The search path; the environment's by default. */
  path?: string | undefined
}

const LAUNCHER = fileURLToPath(new URL('./sandbox.py', import.meta.url))
/** The proxy's port in the namespace, where nothing else listens. */
const PORT = 3128
const SOCKET = 'proxy.sock'
const TIMEOUT_MS = 10_000

/** Undefined if the system does not support it: not Linux, no `unshare` or Python, or no namespaces for this user. */
export async function findSandbox({ pythonPath, path = process.env.PATH ?? '' }: FindSandboxOptions): Promise<Sandbox | undefined> {
  if (process.platform !== 'linux') return undefined
  const folders = path.split(delimiter).filter((part) => part !== '')
  const [unshare] = await executables(folders.map((folder) => join(folder, 'unshare')))
  if (unshare === undefined) return undefined
  for (const python of await executables([pythonPath, ...folders.map((folder) => join(folder, 'python3'))])) {
    const args = ['--user', '--map-root-user', '--net', python, '-I', '-S', LAUNCHER, String(PORT), SOCKET]
    const limits = { timeoutMs: TIMEOUT_MS, maxOutputBytes: 1000 }
    // Wrappers that search for the real Python must fail here, as they would later.
    const end = await runProcess({ path: unshare, args, limits, env: { PATH: '', LANG: 'C.UTF-8' } }).catch(() => undefined)
    if (end?.code === 0) return { command: unshare, args }
  }
  return undefined
}

/** The proxy's socket, reachable from this working folder. */
export async function proxySocketIn(folder: string) {
  await rm(join(folder, SOCKET), { force: true })
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  return {
    /** Short enough for a socket address, however deep the folder is. */
    path: `/proc/self/fd/${handle.fd}/${SOCKET}`,
    port: PORT,
    async close() {
      await handle.close()
      await rm(join(folder, SOCKET), { force: true })
    },
  }
}

async function executables(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map((path) =>
      access(path, constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  )
  return paths.filter((_path, index) => found[index])
}
